// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The number of an error on the wire. A number is never reused for another error.
///
/// - Source: JSON-RPC 2.0 §5.1 (-32700 to -32600), LSP 3.17 (-32800); the others are defined by
///   this project.
public struct RPCErrorCode: RawRepresentable, Codable, Hashable, Sendable {
  /// The number.
  public let rawValue: Int
  /// Creates the code of a number, which need not be known.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The frame is not JSON.
  public static let parseError = RPCErrorCode(rawValue: -32700)
  /// The frame is JSON but not a request, or the request was sent after shutdown.
  public static let invalidRequest = RPCErrorCode(rawValue: -32600)
  /// The method does not exist, or this server does not provide it.
  public static let methodNotFound = RPCErrorCode(rawValue: -32601)
  /// The parameters are not valid for the method; `data.path` is the position of the fault.
  public static let invalidParams = RPCErrorCode(rawValue: -32602)
  /// An internal error of the server.
  public static let internalError = RPCErrorCode(rawValue: -32603)
  /// The request was cancelled, or the server shut down before the request was complete.
  public static let requestCancelled = RPCErrorCode(rawValue: -32800)
  /// The name of a store that does not exist, and that is not the name of a store kind either.
  public static let unknownStore = RPCErrorCode(rawValue: -32010)
  /// The store was closed.
  public static let storeClosed = RPCErrorCode(rawValue: -32011)
  /// A session handle that has never existed.
  public static let unknownSession = RPCErrorCode(rawValue: -32012)
  /// The session has ended.
  public static let expiredSession = RPCErrorCode(rawValue: -32013)
  /// The frontend is an observer, which cannot change anything.
  public static let observer = RPCErrorCode(rawValue: -32014)
  /// A limit of the server was exceeded; `data.limit` is its name.
  public static let limit = RPCErrorCode(rawValue: -32015)
  /// The client sent no token or a wrong one, or it is not allowed to connect.
  public static let unauthorised = RPCErrorCode(rawValue: -32016)
  /// The protocol version is not one of `data.supported`.
  public static let protocolVersion = RPCErrorCode(rawValue: -32017)
  /// The store is open with another kind or configuration.
  public static let otherConfiguration = RPCErrorCode(rawValue: -32018)
  /// An earlier input was refused temporarily; `data.sequence` is its number.
  public static let outOfOrder = RPCErrorCode(rawValue: -32019)
}

/// An error on the wire.
///
/// - Shape: `{"code": Int, "message": String, "data"?: any}`
public struct RPCError: Error, Equatable, Sendable {
  /// The number of the error.
  public var code: RPCErrorCode
  /// One sentence for readers.
  public var message: String
  /// Details for programs; absent if nil.
  public var data: JSONValue?

  /// Creates an error.
  public init(_ code: RPCErrorCode, _ message: String, data: JSONValue? = nil) {
    self.code = code
    self.message = message
    self.data = data
  }
}

extension RPCError: JSONWritable {
  /// Writes the error object.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("code")
    writer.value(code.rawValue)
    writer.key("message")
    writer.value(message)
    if let data {
      writer.key("data")
      writer.value(data)
    }
    writer.endObject()
  }
}

extension RPCError: CustomStringConvertible {
  /// The message and the number, without characters that a terminal acts on.
  public var description: String { "\(message) (\(code.rawValue))".printable }
}
