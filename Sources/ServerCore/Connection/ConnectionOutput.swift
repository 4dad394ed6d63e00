// SPDX-License-Identifier: Apache-2.0

public import Delivery

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
}

extension ConnectionOutput {
  /// Accepts any identity: an output without a limit of connections.
  public func admit(_ identity: Identity) -> Bool { true }
}
