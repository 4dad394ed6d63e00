// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

// Sessions that leave the memory of this node without ending: another node continues them.

extension Shard {
  /// Handles a change of the lease of this node.
  public func ownershipChanged(_ change: OwnershipChange) {
    switch change {
    // Nothing is delivered meanwhile (`TurnOutcome.deliver`); the end of a turn delivers it later.
    case .held, .lapsed, .drains: break
    case .lost: lose(directory.loaded.compactMap(\.handle))
    }
  }

  /// Removes sessions that another node may own, and disconnects their clients. Nothing of them is
  /// sent or journaled any more.
  func lose(_ handles: some Sequence<SessionHandle>) {
    let sessions = handles.compactMap { directory[$0] }
    for session in sessions {
      for participant in Array(session.participants) { participant.connectedClient?.discard() }
    }
    for session in sessions { unload(session) }
    commits?.lose(sessions.compactMap(\.handle))
  }

  /// Gives up the sessions to which no client is attached and whose entries are in the journal, so
  /// that other nodes continue them.
  ///
  /// - Returns: The number of these sessions.
  @discardableResult
  public func releaseIdleSessions(limit: Int = .max) -> Int {
    guard ownership != nil else { return 0 }
    let idle = Array(directory.loaded.lazy.filter { $0.isInJournal(self) }.prefix(limit))
    sleep(idle)
    return idle.count
  }

  /// Removes a session from memory; nothing of it is journaled.
  func unload(_ session: Session) {
    guard let handle = session.handle else { return }
    directory.unload(handle)
    session.leaveMemory(isolation: self)
  }
}

extension Session {
  /// Ends the session on this node only: nothing of it is journaled.
  fileprivate func leaveMemory(isolation shard: isolated Shard) {
    let leaving = Array(participants)
    participants.removeAll()
    for participant in leaving { participant.releaseSubscriptions() }
    end(isolation: shard)
  }
}
