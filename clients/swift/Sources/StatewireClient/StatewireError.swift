// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
public import StatewireProtocol

/// An error of the client. An error response of the server is an `RPCError`.
public struct StatewireError: Error, Sendable {
  /// The kind of an error, for programs.
  public enum Code: Sendable, Hashable {
    /// The client cannot connect, or the connection ended before the response.
    case connectionLost
    /// No response arrived in time.
    case timedOut
    /// The client was closed.
    case clientClosed
    /// Another connection has attached with this frontend's name.
    case evicted
    /// A client has closed the session.
    case sessionClosed
    /// The session has expired or the server has lost it. It is unknown whether the input was
    /// applied.
    case sessionLost
    /// The store is closed.
    case storeClosed
    /// The maximum number of inputs is pending.
    case tooManyPending
    /// The server has violated the protocol.
    case protocolViolation
  }

  /// The kind of the error, for programs.
  public let code: Code
  /// The cause, one sentence for people.
  public let message: String
  /// The underlying error; an `RPCError` is the last error with id null from the server.
  public let cause: (any Error)?

  init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }
}

extension StatewireError: CustomStringConvertible {
  /// A description that is safe to print to a terminal.
  public var description: String { (cause.map { "\(message): \($0)" } ?? message).printable }
}

// MARK: - Error responses

extension RPCError {
  /// The place of the error, a JSON Pointer into the params; set for `invalidParams`.
  public var path: String? { data?["path"]?.string }

  /// The name of the exceeded limit; set for `limit`.
  public var limit: String? { data?["limit"]?.string }

  /// Reads the member `error` of a response.
  init(received value: JSONValue) {
    self.init(
      RPCErrorCode(rawValue: value["code"]?.int ?? RPCErrorCode.internalError.rawValue),
      value["message"]?.string ?? "", data: value["data"])
  }
}
