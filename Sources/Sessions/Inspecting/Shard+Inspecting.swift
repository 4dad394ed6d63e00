// SPDX-License-Identifier: Apache-2.0

// The sessions of a shard, as the console finds them.

extension Shard {
  /// The keys of all loaded sessions: those with a handle, and those of clients without one.
  ///
  /// - Complexity: O(*n*); it copies only the keys, so that one job can copy those of a shard with
  ///   the most sessions.
  public var sessionKeys: [SessionKey] {
    directory.handles.map { .handle($0) }
      + clients.ids.filter { handlelessSession(of: $0) != nil }.map { .client($0) }
  }

  /// Returns the loaded session with a key; nil if it has ended or sleeps.
  public func session(_ key: SessionKey) -> Session? {
    switch key {
    case .handle(let handle): directory[handle]
    case .client(let client): handlelessSession(of: client)
    }
  }

  private func handlelessSession(of client: ClientID) -> Session? {
    guard let session = clients[client]?.session, session.handle == nil, !session.isEnded
    else { return nil }
    return session
  }
}

/// The use of a shard's limits.
public struct ShardUsage: Sendable {
  /// The number of loaded sessions with a handle.
  public let sessions: Int
  /// The number of clients.
  public let clients: Int
  /// The size of all sessions, as their limit counts it.
  ///
  /// - Units: bytes.
  public let bytes: Int
  /// The size of the buffers of all connections, as their limit counts it.
  ///
  /// - Units: bytes.
  public let bufferBytes: Int
  /// The size of the states that the journal of the server keeps aside.
  ///
  /// - Units: bytes.
  public let keptBytes: Int
  /// The number of sessions that are recorded.
  public let recordings: Int
  /// True for a shard under test.
  public let isTest: Bool
}

extension Shard {
  /// The use of the limits at this time.
  public var usage: ShardUsage {
    ShardUsage(
      sessions: directory.count, clients: clients.count, bytes: accounts.all.bytes,
      bufferBytes: otherAccounts.reduce(0) { $0 + $1.all.bytes }, keptBytes: group.keptBytes,
      recordings: recorded.count,
      isTest: testing != nil)
  }
}
