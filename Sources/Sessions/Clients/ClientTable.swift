// SPDX-License-Identifier: Apache-2.0

/// The id of a client on its shard; never used for two clients.
public struct ClientID: Hashable, Sendable, CustomStringConvertible {
  let index: Int32
  let generation: Int32

  /// The id as text, unique on its shard.
  public var description: String { "\(index).\(generation)" }
}

/// The clients of a shard by id.
///
/// Sessions, participants and subscriptions store ids instead of references. Messages to a client
/// that has disconnected are dropped.
///
/// - Complexity: O(1) for each operation.
public final class ClientTable {
  private struct Entry {
    var generation: Int32 = 0
    var client: (any Client)?
  }

  /// The viewers without identity and name. Most clients of a server without tokens are such viewers.
  /// Each shard has its own two objects, because threads that share an object delay each other.
  let (driver, observer) = (Viewer(), Viewer(role: .observer))

  private var entries: [Entry] = []
  private var free: [Int32] = []

  /// Number of ids in use.
  var count: Int { entries.count - free.count }

  /// Creates an id, to be passed to `add` or `remove`.
  public func makeID() -> ClientID {
    let index: Int32
    if let known = free.popLast() {
      index = known
    } else {
      index = Int32(entries.count)
      entries.append(Entry())
    }
    return ClientID(index: index, generation: entries[Int(index)].generation)
  }

  /// Assigns a client to an id until `remove`.
  public func add(_ client: any Client, as id: ClientID) { entries[Int(id.index)].client = client }

  /// Removes an id and its client, which receives no more messages. Does nothing if the id was
  /// removed already.
  public func remove(_ id: ClientID) {
    guard entries[Int(id.index)].generation == id.generation else { return }
    entries[Int(id.index)].client = nil
    // An index whose generations are used up is not used again.
    let (next, isOver) = id.generation.addingReportingOverflow(1)
    guard !isOver else { return }
    entries[Int(id.index)].generation = next
    free.append(id.index)
  }

  /// Releases all clients; their ids remain.
  func releaseAll() { for index in entries.indices { entries[index].client = nil } }

  /// The ids of all clients.
  var ids: [ClientID] {
    entries.indices.compactMap { index in
      guard entries[index].client != nil else { return nil }
      return ClientID(index: Int32(index), generation: entries[index].generation)
    }
  }

  /// The client with an id; nil if it was removed.
  public subscript(id: ClientID) -> (any Client)? {
    let entry = entries[Int(id.index)]
    return entry.generation == id.generation ? entry.client : nil
  }
}
