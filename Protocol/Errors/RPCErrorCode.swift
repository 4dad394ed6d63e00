// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The number of an error on the wire. A number is never given to another error.
///
/// - Source: JSON-RPC 2.0 §5.1 (-32700 to -32600), LSP 3.17 (-32800); the rest is our own.
public struct RPCErrorCode: RawRepresentable, Codable, Hashable, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The frame is no JSON.
  public static let parseError = RPCErrorCode(rawValue: -32700)
  /// The frame is JSON and no request.
  public static let invalidRequest = RPCErrorCode(rawValue: -32600)
  /// There is no such method.
  public static let methodNotFound = RPCErrorCode(rawValue: -32601)
  /// The parameters are not those of the method; `data.path` points to the fault.
  public static let invalidParams = RPCErrorCode(rawValue: -32602)
  /// The server made a mistake.
  public static let internalError = RPCErrorCode(rawValue: -32603)
  /// The request was cancelled, or the server ended before it was done.
  public static let requestCancelled = RPCErrorCode(rawValue: -32800)
  /// No store has this name, and no kind either.
  public static let unknownStore = RPCErrorCode(rawValue: -32010)
  /// The store was closed.
  public static let storeClosed = RPCErrorCode(rawValue: -32011)
  /// There is no session with this handle, and there never was.
  public static let unknownSession = RPCErrorCode(rawValue: -32012)
  /// The session is over.
  public static let expiredSession = RPCErrorCode(rawValue: -32013)
  /// The frontend is an observer, which changes nothing.
  public static let observer = RPCErrorCode(rawValue: -32014)
  /// A limit of the server was met; `data.limit` names it.
  public static let limit = RPCErrorCode(rawValue: -32015)
  /// The peer may not do this: it has shown no token of this server, or is nobody who may connect.
  public static let unauthorised = RPCErrorCode(rawValue: -32016)
  /// The protocol version is not one of `data.supported`.
  public static let protocolVersion = RPCErrorCode(rawValue: -32017)
  /// The store is open with another kind or configuration.
  public static let otherConfiguration = RPCErrorCode(rawValue: -32018)
  /// An input before this one was refused for the moment; `data.sequence` is its number.
  public static let outOfOrder = RPCErrorCode(rawValue: -32019)
}

/// An error as it goes over the wire.
///
/// - Shape: `{"code": Int, "message": String, "data"?: any}`
public struct RPCError: Error, Equatable, Sendable {
  public var code: RPCErrorCode
  /// One sentence for people.
  public var message: String
  /// More for programs; absent if nil.
  public var data: JSONValue?

  public init(_ code: RPCErrorCode, _ message: String, data: JSONValue? = nil) {
    self.code = code
    self.message = message
    self.data = data
  }
}

extension RPCError: JSONWritable {
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
  /// For people: nothing in it is executed by a terminal.
  public var description: String { "\(message) (\(code.rawValue))".printable }
}
