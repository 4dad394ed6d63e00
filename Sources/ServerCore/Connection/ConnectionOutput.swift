// SPDX-License-Identifier: Apache-2.0

public import Delivery

/// The transport of a connection, on the shard's loop.
///
/// It sends the connection `caughtUp` once the client reads again, `othersServed` after it has served others,
/// `timeIsUp` after `expireLater`, and `outputEnded` after `endOutput` if there is an input to wait for.
public protocol ConnectionOutput: ClientOutput {
  /// Notes whose connection it is from now on; called within turns.
  ///
  /// - Returns: False, and nothing is noted, if the identity has as many as it may have.
  func admit(_ identity: Identity) -> Bool
}

extension ConnectionOutput {
  public func admit(_ identity: Identity) -> Bool { true }
}
