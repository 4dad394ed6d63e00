// SPDX-License-Identifier: Apache-2.0

public import Delivery
public import Wire

/// The transport of a connection, on the shard's loop.
///
/// It sends the connection these events:
/// - `caughtUp` once the client reads again,
/// - `othersServed` after it has served other clients,
/// - `timeIsUp` a limited time after `expireLater`,
/// - `outputEnded` after `endOutput`, if there is an input to wait for.
public protocol ConnectionOutput: ClientOutput {
  /// Assigns the connection to an identity; called within turns.
  ///
  /// - Returns: False, with no change, if the identity has the maximum number of connections.
  func admit(_ identity: Identity) -> Bool

  /// Passes a request to a new connection on another shard; called within turns.
  ///
  /// The result is passed to `Connection.relayRefused` or `Connection.relayAccepted`, in a later
  /// turn. It is called only if the connection's shard has other shards beside it.
  func relay(_ request: RelayRequest, to shard: Int)

  /// Connects to the node of a session, for a connection that has sent a request to attach.
  ///
  /// The result is passed to `Connection.linkOpened`, `linkRefused` or `linkFailed`, in a later
  /// turn. It is called only if the settings have nodes.
  func link(_ request: NodeLinkRequest, for connection: Connection) -> any NodeLink

  /// Marks the client as another node: the limit of connections from one address does not apply.
  func servesNode()

  /// Records that the client should connect again when the connection closes.
  func serviceRestarts()

  /// True if an earlier connection of the client may have requests on another shard.
  var hasEarlier: Bool { get }

  /// Cancels a request that an earlier connection of the client has begun on another shard; called
  /// within turns.
  func cancelEarlier(_ request: RequestID)

  /// True if the client waits for responses of earlier connections.
  var awaitsEarlier: Bool { get }

  /// Ends the requests of earlier connections, whose time is over, with the error -32800; called at the
  /// end of each turn from then on.
  func expireEarlier()

  /// Ends the requests of earlier connections with an error, then sends the event
  /// `databaseIsGone` in a later turn, once.
  func endWithEarlier()

  /// Records that a request has ended without output.
  func requestEnded()
}

extension ConnectionOutput {
  /// Accepts any identity: an output without a limit of connections.
  public func admit(_ identity: Identity) -> Bool { true }

  /// Traps: the output of a single shard.
  public func relay(_ request: RelayRequest, to shard: Int) {
    preconditionFailure("a single shard owns all sessions")
  }

  /// Traps: the output of a single node.
  public func link(_ request: NodeLinkRequest, for connection: Connection) -> any NodeLink {
    preconditionFailure("a single node owns all sessions")
  }

  /// Does nothing: an output without a limit of connections.
  public func servesNode() {}

  /// Does nothing: an output without a reason of its end.
  public func serviceRestarts() {}

  /// False: an output without earlier connections.
  public var hasEarlier: Bool { false }

  /// Does nothing: an output without earlier connections.
  public func cancelEarlier(_ request: RequestID) {}

  /// False: an output without earlier connections.
  public var awaitsEarlier: Bool { false }

  /// Does nothing: an output without earlier connections.
  public func expireEarlier() {}

  /// Does nothing: an output without earlier connections.
  public func endWithEarlier() {}

  /// Does nothing: an output that outlives its requests.
  public func requestEnded() {}
}
