// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
public import StatewireProtocol

/// What goes wrong between a client and its server. What the server refuses is an `RPCError`.
public struct StatewireError: Error, Sendable {
  public enum Code: Sendable, Hashable {
    /// There is no connection, or it has ended before the answer.
    case connectionLost
    /// The answer took too long.
    case timedOut
    /// The client was closed.
    case left
    /// Another connection has come under this frontend's name.
    case evicted
    /// Another frontend has ended the session.
    case sessionClosed
    /// The session is gone, and a new one has begun; nobody knows whether an input was applied.
    case sessionLost
    /// The store was closed.
    case storeClosed
    /// Too many inputs wait for their answers.
    case busy
    /// The server has sent what it should not.
    case protocolViolation
  }

  public let code: Code
  /// One sentence for people.
  public let message: String
  /// What was wrong below; an `RPCError` is the last thing that the server has said.
  public let cause: (any Error)?

  init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }
}

extension StatewireError: CustomStringConvertible {
  /// For people: nothing in it is executed by a terminal.
  public var description: String { (cause.map { "\(message): \($0)" } ?? message).printable }
}

// MARK: - What the server refuses

extension RPCError {
  /// Where the fault is in the params, as a JSON Pointer; of `invalidParams`.
  public var path: String? { data?["path"]?.string }

  /// Which limit was met; of `limit`.
  public var limit: String? { data?["limit"]?.string }

  /// An error as it came over the wire.
  init(received value: JSONValue) {
    self.init(
      RPCErrorCode(rawValue: value["code"]?.int ?? RPCErrorCode.internalError.rawValue),
      value["message"]?.string ?? "", data: value["data"])
  }
}
