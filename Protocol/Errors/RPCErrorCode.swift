// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The number of an error on the wire. A number is never reused for another error.
///
/// `Scripts/reference` writes the causes and remedies to docs/reference/errors.md.
///
/// - Source: JSON-RPC 2.0 §5.1 (-32700 to -32600), LSP 3.17 (-32800); the others are defined by
///   this project.
public struct RPCErrorCode: RawRepresentable, Codable, Hashable, Sendable {
  /// The number.
  public let rawValue: Int
  /// Creates the code of a number, which need not be known.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The frame is not JSON.
  ///
  /// - Cause: The frame is not JSON or not UTF-8, or has headers without a usable
  ///   `Content-Length`; or the connection begins with another protocol.
  /// - Remedy: Send one JSON text in UTF-8 for each frame. The response has `id: null`: the
  ///   request in the frame gets no other response. After wrong headers or another protocol the
  ///   server closes the connection; connect again.
  public static let parseError = RPCErrorCode(rawValue: -32700)
  /// The frame is JSON but not a request, or the request was sent after shutdown.
  ///
  /// - Cause: The frame is JSON, but not a JSON-RPC 2.0 request; an `id` is longer than 1,024
  ///   bytes; or the request came after `shutdown`.
  /// - Remedy: Correct the client: `jsonrpc` is `"2.0"`, `method` is a string, `id` is a string,
  ///   a number or null. After `shutdown` send only `exit`.
  public static let invalidRequest = RPCErrorCode(rawValue: -32600)
  /// The method does not exist, or this server does not provide it.
  ///
  /// - Cause: The method does not exist, or this server does not offer it: `test/…` exists only
  ///   with `--test`.
  /// - Remedy: Compare the name with `rpc.discover`. Start the server with `--test` to use the
  ///   methods for tests.
  public static let methodNotFound = RPCErrorCode(rawValue: -32601)
  /// The parameters are not valid for the method; `data.path` is the position of the fault.
  ///
  /// - Cause: A member of the params is missing, has the wrong type or an unusable value; or the
  ///   store does not accept the input or the configuration.
  /// - Remedy: Correct the member that `data.path` names, and send the request under a new `id`.
  ///   The store has not changed.
  public static let invalidParams = RPCErrorCode(rawValue: -32602)
  /// An internal error of the server.
  ///
  /// - Cause: A fault of the server. `session/attach`: the session is set aside, or cannot be
  ///   loaded at the moment. `store/send`: the input led to a state that cannot be encoded as JSON,
  ///   and was undone; `data.path` points into the state.
  /// - Remedy: Read the log of the server. Repeat `session/attach` later, unless the session is
  ///   set aside: then the log describes how to restore it.
  public static let internalError = RPCErrorCode(rawValue: -32603)
  /// The request was cancelled, or the server shut down before the request was complete.
  ///
  /// - Cause: `$/cancelRequest` cancelled the request, or the server ended, closed the connection,
  ///   or had no database for too long before the request was complete.
  /// - Remedy: None if the client cancelled it. Otherwise connect again, and send the input again
  ///   with its `sequence`.
  public static let requestCancelled = RPCErrorCode(rawValue: -32800)
  /// The name of a store that does not exist, and that is not the name of a store kind either.
  ///
  /// - Cause: No store and no store kind has this name; for `store/close`: no store with this
  ///   name was opened.
  /// - Remedy: Open the store with `store/open`, or correct the name.
  public static let unknownStore = RPCErrorCode(rawValue: -32010)
  /// The store was closed.
  ///
  /// - Cause: A participant closed the store, or it was closed before the effects of the input
  ///   had ended.
  /// - Remedy: Open it again with `store/open`; its revisions continue.
  public static let storeClosed = RPCErrorCode(rawValue: -32011)
  /// A session handle that has never existed.
  ///
  /// - Cause: No session has or had this handle; or it belongs to another identity; or the
  ///   connection has no session with a handle (`session/detach`).
  /// - Remedy: Open a new session with `session/open`.
  public static let unknownSession = RPCErrorCode(rawValue: -32012)
  /// The session has ended.
  ///
  /// - Cause: The session was closed, or its `--session-time` after the last participant is over.
  /// - Remedy: Open a new session with `session/open`, and subscribe again.
  public static let expiredSession = RPCErrorCode(rawValue: -32013)
  /// The client is an observer, which cannot change anything.
  ///
  /// - Cause: The participant has the role `observer`, and the request would change something or
  ///   open a store.
  /// - Remedy: Attach again with the role `driver`.
  public static let observer = RPCErrorCode(rawValue: -32014)
  /// A limit of the server was exceeded; `data.limit` is its name.
  ///
  /// - Cause: A limit of the server is reached; `data.limit` names it.
  /// - Remedy: See the limit in `limits.md`: send less, close stores, or raise the option. For
  ///   `inputsPerSecond`, `openRequests` and `outboxBytes` send the request again later.
  public static let limit = RPCErrorCode(rawValue: -32015)
  /// The client sent no token or a wrong one, or it is not allowed to connect.
  ///
  /// - Cause: The client has not shown a token, has shown a wrong one, or one of another identity
  ///   than before; its identity has no token any more; or its process belongs to another user
  ///   (Unix socket).
  /// - Remedy: Send `initialize` with a `token` from the token file of the server. After the
  ///   third wrong token the server closes the connection.
  public static let unauthorised = RPCErrorCode(rawValue: -32016)
  /// The protocol version is not one of `data.supported`.
  ///
  /// - Cause: `initialize` asks for a version that the server does not support.
  /// - Remedy: Use one of the versions in `data.supported`.
  public static let protocolVersion = RPCErrorCode(rawValue: -32017)
  /// The store is open with another kind or configuration.
  ///
  /// - Cause: A store with this name is open with another kind or configuration.
  /// - Remedy: Open it under another name, close it first, or only subscribe to it.
  public static let otherConfiguration = RPCErrorCode(rawValue: -32018)
  /// An earlier input was refused temporarily; `data.sequence` is its number.
  ///
  /// - Cause: An earlier input of this connection was refused temporarily and keeps its place;
  ///   `data.sequence` is its number.
  /// - Remedy: Send the input with the number `data.sequence` again first, then this one.
  public static let outOfOrder = RPCErrorCode(rawValue: -32019)
  /// The store kind refuses this use of the store to this client.
  ///
  /// - Cause: The kind does not permit this client, by its identity, frontend name or role, to open
  ///   the store, to subscribe to it or to send it inputs. `data.reason` is a word for programs.
  /// - Remedy: Use the store as another identity, or ask the operator.
  public static let forbidden = RPCErrorCode(rawValue: -32020)
}

/// An error on the wire.
///
/// - Shape: `{"code": Int, "message": String, "data"?: any}`
public struct RPCError: Error, Equatable, Sendable {
  /// The number of the error.
  public var code: RPCErrorCode
  /// The cause and, where one exists, the remedy: one sentence for people.
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
