// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import StatewireJSON
public import StatewireProtocol
internal import Wire

/// A reason to refuse a client: at its connection, or later.
public enum Refusal: Sendable {
  /// The server has the maximum number of connections (`ServerLimits.connections`).
  case connections
  /// The client's address has the maximum number of connections.
  case connectionsPerAddress
  /// The client has not sent its first message, or a valid token, in time.
  case timeToFirstRequest
  /// A frame that has begun has not ended in time.
  case frameTime
  /// The client has sent no message for `ServerLimits.idleTime`.
  case idleTime
  /// The client is a process of a user that must not connect to this Unix socket.
  case user

  /// The error that the client receives, in a response with the id null.
  public var error: RPCError {
    switch self {
    case .connections:
      RPCError(limit: .connections, "the server has the maximum number of connections")
    case .connectionsPerAddress:
      RPCError(
        limit: .connectionsPerAddress, "this address has the maximum number of connections")
    case .timeToFirstRequest:
      RPCError(
        limit: .timeToFirstRequest, "the first request, or the token, did not arrive in time")
    case .frameTime:
      RPCError(limit: .frameTime, "the frame took too long to arrive")
    case .idleTime:
      RPCError(limit: .idleTime, "the connection was idle for too long")
    case .user:
      RPCError(.unauthorised, "this socket accepts only the server's own user and root")
    }
  }
}

extension Refusal {
  /// The error response as one line: the framing of a client is unknown until it sends bytes.
  public var line: [UInt8] {
    var writer = JSONWriter()
    writer.errorWithoutRequest(error)
    writer.raw("\n")
    return writer.withBytes { Array($0) }
  }
}
