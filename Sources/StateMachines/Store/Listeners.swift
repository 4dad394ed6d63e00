// SPDX-License-Identifier: Apache-2.0

/// Who is told of a store's publications and events, in the order they came.
///
/// Not copyable, so that it is looked into where it is; see `Running`. It is the store that tells them, since
/// they may come and go meanwhile.
struct Listeners: ~Copyable {
  enum Call {
    case publication((borrowing Publication) -> Void)
    case event((UnsafeRawBufferPointer) -> Void)
  }

  final class Listener {
    let id: ListenerID
    let call: Call
    /// One that an earlier one stops is not called any more.
    fileprivate(set) var isStopped = false

    init(id: ListenerID, call: Call) {
      self.id = id
      self.call = call
    }
  }

  /// Who is told before all others; it holds the store, and so is not held by it. Unowned, because it is there until
  /// the store is closed (`AnyStore.serve`).
  unowned var server: (any StoreServer)?
  private(set) var all: [Listener] = []
  private var last = 0

  /// Whether anybody needs to know how values differ.
  var needPatches: Bool { !all.isEmpty || server?.needsPatches ?? false }

  mutating func add(_ listener: @escaping (borrowing Publication) -> Void) -> ListenerID {
    add(.publication(listener))
  }

  mutating func add(events listener: @escaping (UnsafeRawBufferPointer) -> Void) -> ListenerID {
    add(.event(listener))
  }

  /// - Returns: What has to be let go of once nothing here is in hand any more: with a closure something of
  ///   its author's may end.
  mutating func remove(_ id: ListenerID) -> Listener? {
    guard let index = all.firstIndex(where: { $0.id == id }) else { return nil }
    let removed = all.remove(at: index)
    removed.isStopped = true
    return removed
  }

  /// - Returns: As `remove`.
  mutating func removeAll() -> [Listener] {
    server = nil
    for listener in all { listener.isStopped = true }
    var removed: [Listener] = []
    swap(&removed, &all)
    return removed
  }

  private mutating func add(_ call: Call) -> ListenerID {
    last += 1
    let id = ListenerID(rawValue: last)
    all.append(Listener(id: id, call: call))
    return id
  }
}
