// SPDX-License-Identifier: Apache-2.0

/// Who is told of a store's publications and events, in the order they came.
///
/// Not copyable, so that it is looked into where it is; see `Running`. So it is not what tells them, who may
/// come and go while they are told: `server` and `all` are taken in hand for that.
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

  /// Who is told before all others; it holds the store, and so is not held by it.
  unowned var server: (any StoreServer)?
  private(set) var all: [Listener] = []
  private var last = 0

  mutating func add(_ listener: @escaping (borrowing Publication) -> Void) -> ListenerID {
    add(.publication(listener))
  }

  mutating func add(events listener: @escaping (UnsafeRawBufferPointer) -> Void) -> ListenerID {
    add(.event(listener))
  }

  mutating func remove(_ id: ListenerID) {
    guard let index = all.firstIndex(where: { $0.id == id }) else { return }
    all.remove(at: index).isStopped = true
  }

  mutating func removeAll() {
    server = nil
    for listener in all { listener.isStopped = true }
    all.removeAll()
  }

  private mutating func add(_ call: Call) -> ListenerID {
    last += 1
    let id = ListenerID(rawValue: last)
    all.append(Listener(id: id, call: call))
    return id
  }
}
