// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import StatewireJSON
public import StatewireProtocol
internal import Wire

/// Why a peer is not served, or not any more.
public enum Refusal: Sendable {
  /// There are as many connections as there may be.
  case connections
  /// There are as many connections from its address as there may be.
  case connectionsPerAddress
  /// It has sent no message in time, or shown no token in time.
  case timeToFirstRequest
  /// A frame of its has begun and has not ended in time.
  case frameTime
  /// It has sent no message for a long time.
  case idleTime
  /// It is a process of a user who may not connect.
  case user

  /// What the peer is told, with the id null.
  public var error: RPCError {
    switch self {
    case .connections:
      RPCError(limit: .connections, "the server has as many connections as it may have")
    case .connectionsPerAddress:
      RPCError(
        limit: .connectionsPerAddress, "there are as many connections from here as there may be")
    case .timeToFirstRequest:
      RPCError(limit: .timeToFirstRequest, "the first request has not come in time")
    case .frameTime:
      RPCError(limit: .frameTime, "a frame that has begun has not ended in time")
    case .idleTime:
      RPCError(limit: .idleTime, "nothing has come for as long as a connection may be idle")
    case .user:
      RPCError(.unauthorised, "this socket is for another user")
    }
  }
}

extension Refusal {
  /// What the peer is told, as a line: it has not spoken yet, so nobody knows its framing.
  public var line: [UInt8] {
    var writer = JSONWriter()
    writer.errorWithoutRequest(error)
    writer.raw("\n")
    return writer.withBytes { Array($0) }
  }
}
