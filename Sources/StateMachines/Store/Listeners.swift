// SPDX-License-Identifier: Apache-2.0

/// The server and the listeners of a store at the beginning of one publication or event.
///
/// They are read once: a listener that is added meanwhile is not called, and one that is removed
/// is not called any more.
struct ListenerSnapshot {
  fileprivate let server: (any StoreServer)?
  fileprivate let listeners: [Listeners.Listener]

  /// True if a listener or the server needs the patch of a publication.
  var needPatches: Bool { !listeners.isEmpty || server?.needsPatches ?? false }

  func notify(_ publication: borrowing Publication) {
    server?.published(publication)
    for listener in listeners where !listener.isStopped {
      if case .publication(let call) = listener.call { call(publication) }
    }
  }

  /// Passes an event to the server, then to the audiences, then to the listeners.
  func notify(
    event: UnsafeRawBufferPointer, _ recipients: EventRecipients, audiences: () -> Void
  ) {
    server?.happened(event, for: recipients)
    audiences()
    for listener in listeners where !listener.isStopped {
      if case .event(let call) = listener.call { call(event) }
    }
  }
}

/// The listeners of a store's publications and events, in the order in which they came.
///
/// Not copyable, so that it is read in place without copies; see `Running`. A snapshot calls the
/// listeners, because they may be added and removed meanwhile.
struct Listeners: ~Copyable {
  enum Call {
    case publication((borrowing Publication) -> Void)
    case event((UnsafeRawBufferPointer) -> Void)
  }

  final class Listener {
    let id: ListenerID
    let call: Call
    /// True after the listener was removed. Then it is not called, even if it was removed by an
    /// earlier listener during the same publication.
    fileprivate(set) var isStopped = false

    init(id: ListenerID, call: Call) {
      self.id = id
      self.call = call
    }
  }

  /// The server of the store; it is called before all listeners. It owns the store, so the store
  /// does not own it. Unowned, because it exists until the store is closed (`AnyStore.serve`).
  unowned var server: (any StoreServer)?
  private var all: [Listener] = []
  private var last = 0

  /// The server and the listeners at this moment.
  // An array without elements may keep its buffer, which would be retained.
  var snapshot: ListenerSnapshot {
    ListenerSnapshot(server: server, listeners: all.isEmpty ? [] : all)
  }

  mutating func add(_ listener: @escaping (borrowing Publication) -> Void) -> ListenerID {
    add(.publication(listener))
  }

  mutating func add(events listener: @escaping (UnsafeRawBufferPointer) -> Void) -> ListenerID {
    add(.event(listener))
  }

  /// Removes a listener.
  ///
  /// - Returns: The removed listener. The caller releases it after this access to the listeners has
  ///   ended, because the release of a closure may call a deinitializer that uses the store.
  mutating func remove(_ id: ListenerID) -> Listener? {
    guard let index = all.firstIndex(where: { $0.id == id }) else { return nil }
    let removed = all.remove(at: index)
    removed.isStopped = true
    return removed
  }

  /// Removes the server and all listeners.
  ///
  /// - Returns: The removed listeners; see `remove`.
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
