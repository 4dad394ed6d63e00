// SPDX-License-Identifier: Apache-2.0

/// Who is told of a store's publications and events, in the order they came.
struct Listeners {
  private enum Call {
    case publication((borrowing Publication) -> Void)
    case event((UnsafeRawBufferPointer) -> Void)
  }

  private final class Listener {
    let id: ListenerID
    let call: Call
    /// One that an earlier one stops is not called any more.
    var isStopped = false

    init(id: ListenerID, call: Call) {
      self.id = id
      self.call = call
    }
  }

  /// Who is told before all others; it holds the store, and so is not held by it.
  unowned var server: (any StoreServer)?
  private var all: [Listener] = []
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

  func tell(_ publication: borrowing Publication) {
    server?.published(publication)
    for listener in all where !listener.isStopped {
      if case .publication(let call) = listener.call { call(publication) }
    }
  }

  func tell(event: UnsafeRawBufferPointer) {
    server?.happened(event)
    for listener in all where !listener.isStopped {
      if case .event(let call) = listener.call { call(event) }
    }
  }

  private mutating func add(_ call: Call) -> ListenerID {
    last += 1
    let id = ListenerID(rawValue: last)
    all.append(Listener(id: id, call: call))
    return id
  }
}
