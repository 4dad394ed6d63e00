// SPDX-License-Identifier: Apache-2.0

/// The elements of a list in order, and the changes that restore earlier versions.
///
/// A `ListStorage` changes it; a `ListVersionReference` requests an earlier version, possibly on
/// another thread, so both use a lock. Reads by the list itself, and by code that retains the list,
/// need no lock: storage that is shared is copied before a change.
final class ListHistory {
  /// The elements, sorted by label.
  private(set) var order: CountedTree<AnyBox>
  /// The change log.
  private(set) var log: ChangeLog
  /// The locks of the thread that has created the list.
  private let locks = ListLocks.ofThisThread
  /// The number that the list and all its copies have in common; labels of lists with the same
  /// origin can be compared.
  let origin: UInt64
  /// The first of a linked list of all references (`ListVersionReference`).
  private var first: Unmanaged<ListVersionReference>?

  init(_ order: CountedTree<AnyBox> = CountedTree()) {
    self.order = order
    log = ChangeLog()
    origin = log.version
  }

  /// Copies the elements and the change log of another list, but not its references.
  init(copying other: ListHistory) {
    order = other.order
    log = other.log.copy()
    origin = other.origin
  }
}

// MARK: - For the list

extension ListHistory {
  func insert(_ box: AnyBox, label: UInt64, at position: Int) {
    change { order in
      order.insert(.init(key: label, payload: box), at: position)
      return .insert(position, box)
    }
  }

  /// Replaces an element.
  ///
  /// - Parameter place: A position in the current order, as for `remove` and `move`.
  func update(at place: CountedTree<AnyBox>.Place, to box: AnyBox) {
    change { order in
      var old = box
      order.update(along: place.path) { swap(&$0, &old) }
      return .update(place.rank, from: old, to: box)
    }
  }

  func remove(at place: CountedTree<AnyBox>.Place) {
    change { order in .remove(place.rank, order.remove(along: place.path)) }
  }

  /// Changes the label of an element; the change is not visible outside the module.
  func relabel(at position: Int, to label: UInt64) {
    withLock { order.update(at: position) { $0.key = label } }
  }

  /// Moves an element.
  ///
  /// - Parameters:
  ///   - to: The new position, counted after the removal.
  ///   - label: A label between those of the neighbours at the new position, after the removal.
  func move(from place: CountedTree<AnyBox>.Place, to: Int, label: UInt64) {
    change { order in
      var entry = order.remove(along: place.path)
      let old = entry.key
      entry.key = label
      order.insert(entry, at: to)
      return .move(from: place.rank, to: to, label: old)
    }
  }

  /// Changes the order and adds the change to the log.
  @inline(__always)
  private func change(_ body: (inout CountedTree<AnyBox>) -> ListChange) {
    // A dropped change may contain the last reference to an element, whose deinitializer is code of
    // the store's author; that code must not run under a lock.
    let forgotten = withLock { () -> Dropped? in
      let areReferencesCurrent = areReferencesCurrent
      if !areReferencesCurrent, let version = log.nextDropped { keep(version) }
      return remember(body(&order), alone: areReferencesCurrent)
    }
    withExtendedLifetime(forgotten) {}
  }

  /// Adds a change to the log.
  ///
  /// - Parameter alone: True if no reference needs the version before the change.
  /// - Returns: The changes dropped from the log.
  private func remember(_ change: ListChange, alone: Bool) -> Dropped? {
    guard alone else { return log.append(change).map { .one($0) } }
    // The change is released while it is in the processor's cache.
    if let only = log.replaceOnly(by: change) { return .one(only) }
    let all = log.removeAll()
    _ = log.append(change)
    return all.isEmpty ? nil : .all(all)
  }

  private enum Dropped {
    case one(ListChange)
    case all([ChangeLog.Step])
  }
}

// MARK: - For references

extension ListHistory {
  /// Adds a reference to the current version.
  func join(_ reference: ListVersionReference) {
    withLock {
      reference.version = log.version
      reference.next = first
      first?._withUnsafeGuaranteedRef { $0.previous = .passUnretained(reference) }
      first = .passUnretained(reference)
    }
  }

  /// Removes a reference.
  func leave(_ reference: ListVersionReference) {
    withLock {
      if reference.kept == nil { unlink(reference) }
    }
  }

  /// Returns the elements at the version of a reference.
  func order(for reference: ListVersionReference) -> CountedTree<AnyBox> {
    let (now, after) = withLock { () -> (CountedTree<AnyBox>, [ListChange]) in
      if let kept = reference.kept { return (kept.order, []) }
      return (order, changes(since: reference.version))
    }
    return Self.undo(after, in: now)
  }

  /// Returns the number of elements at the version of a reference.
  func count(for reference: ListVersionReference) -> Int {
    withLock {
      reference.kept?.order.count
        ?? changes(since: reference.version).reduce(order.count) { $0 - $1.growth }
    }
  }

  /// Returns the changes from an earlier version to that of a reference; nil if they are not known.
  func changes(from earlier: UInt64, to reference: ListVersionReference) -> [ListChange]? {
    withLock {
      guard reference.kept == nil, let all = log.since(earlier) else { return nil }
      let later = changes(since: reference.version).count
      return later <= all.count ? all.dropLast(later) : nil
    }
  }

  /// True if there are references and all of them are at the current version.
  private var areReferencesCurrent: Bool {
    var next = first
    while let reference = next {
      guard reference._withUnsafeGuaranteedRef({ $0.version == log.version }) else {
        return false
      }
      next = reference._withUnsafeGuaranteedRef { $0.next }
    }
    return first != nil
  }

  /// Saves the elements of a version in all references to that version.
  private func keep(_ version: UInt64) {
    var kept: SavedOrder?
    var next = first
    while let reference = next {
      reference._withUnsafeGuaranteedRef { reference in
        next = reference.next
        guard reference.version == version else { return }
        if kept == nil { kept = SavedOrder(Self.undo(changes(since: version), in: order)) }
        unlink(reference)
        reference.kept = kept
      }
    }
  }

  private func changes(since version: UInt64) -> [ListChange] {
    guard let changes = log.since(version) else {
      // Continuing would send subscribers a list that never existed.
      preconditionFailure("the change log lacks the changes since a referenced version")
    }
    return changes
  }

  private static func undo(
    _ changes: [ListChange], in order: CountedTree<AnyBox>
  ) -> CountedTree<AnyBox> {
    var order = order
    for change in changes.reversed() { change.undo(in: &order) }
    return order
  }

  private func unlink(_ reference: ListVersionReference) {
    // Read into variables, so that the closures do not retain the reference: releasing it here
    // could deinitialize it, and its deinitializer waits for the lock.
    let (previous, next) = (reference.previous, reference.next)
    if let previous {
      previous._withUnsafeGuaranteedRef { $0.next = next }
    } else {
      first = next
    }
    next?._withUnsafeGuaranteedRef { $0.previous = previous }
    reference.next = nil
    reference.previous = nil
  }

  private func withLock<Result>(_ body: () -> Result) -> Result {
    locks.withLock(of: self, body)
  }
}

// because all changes, and all reads that may be concurrent with a change, use the lock.
extension ListHistory: @unchecked Sendable {}
