// SPDX-License-Identifier: Apache-2.0

/// An address of a client on its shard; never used for two clients.
public struct ClientID: Hashable, Sendable {
  let index: Int32
  let generation: Int32
}

/// The clients of a shard by their ids.
///
/// Sessions, participants and subscriptions hold ids and not the clients: a client that is gone receives nothing, and one
/// behind an id may be anything that takes its messages further.
///
/// - Complexity: O(1) for each operation.
public final class ClientTable {
  private struct Entry {
    var generation: Int32 = 0
    var client: (any Client)?
  }

  private var entries: [Entry] = []
  private var free: [Int32] = []

  /// Number of clients.
  public var count: Int { entries.count - free.count }

  /// Makes an id, for `add` or `remove`.
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

  /// Adds a client until `remove`.
  public func add(_ client: any Client, as id: ClientID) { entries[Int(id.index)].client = client }

  /// Removes a client, which receives nothing any more, and its id; nothing if it is removed already.
  public func remove(_ id: ClientID) {
    guard entries[Int(id.index)].generation == id.generation else { return }
    entries[Int(id.index)].client = nil
    // A place whose generations have been used up is not used again.
    let (next, isOver) = id.generation.addingReportingOverflow(1)
    guard !isOver else { return }
    entries[Int(id.index)].generation = next
    free.append(id.index)
  }

  /// The client with an id; nil if it is gone.
  public subscript(id: ClientID) -> (any Client)? {
    let entry = entries[Int(id.index)]
    return entry.generation == id.generation ? entry.client : nil
  }
}
