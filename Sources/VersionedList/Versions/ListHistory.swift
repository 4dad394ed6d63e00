// SPDX-License-Identifier: Apache-2.0

/// The elements of a list in their order, and the way back to what they were.
///
/// A `ListStorage` changes it; a `ListFollower` asks it for an older version, on another thread
/// perhaps. So both go through a lock. What the list itself reads, and whoever has the list in hand,
/// needs none: a storage that somebody holds beside its list is copied before a change.
final class ListHistory {
  /// Elements by label.
  private(set) var order: CountedTree<AnyBox>
  /// What happened of late.
  private(set) var log: ChangeLog
  /// What the list and all its copies have in common; their labels can be compared.
  let origin: UInt64
  /// Those that follow, the first of a chain.
  private var first: Unmanaged<ListFollower>?

  init(_ order: CountedTree<AnyBox> = CountedTree()) {
    self.order = order
    log = ChangeLog()
    origin = log.version
  }

  /// What another list is and was; who follows that one does not follow this.
  init(copying other: ListHistory) {
    order = other.order
    log = other.log
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

  /// - Parameter place: Found in what the order is now, as for `remove` and `move`.
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

  /// Gives elements labels that are further apart: nothing that anybody sees.
  func relabel(at position: Int, to label: UInt64) {
    withLock { order.update(at: position) { $0.key = label } }
  }

  /// - Parameters:
  ///   - to: Counted after the removal.
  ///   - label: What is between the labels of the neighbours there, once the element has gone.
  func move(from place: CountedTree<AnyBox>.Place, to: Int, label: UInt64) {
    change { order in
      var entry = order.remove(along: place.path)
      let old = entry.key
      entry.key = label
      order.insert(entry, at: to)
      return .move(from: place.rank, to: to, label: old)
    }
  }

  /// Changes the order, and remembers how.
  @inline(__always)
  private func change(_ body: (inout CountedTree<AnyBox>) -> ListChange) {
    // What is forgotten may be the last reference to an element, whose end is its author's code: that
    // does not run under a lock.
    let forgotten = withLock { () -> Forgotten? in
      let isFollowedUpToNow = isFollowedUpToNow
      if !isFollowedUpToNow, let version = log.nextForgotten { keep(version) }
      return remember(body(&order), alone: isFollowedUpToNow)
    }
    withExtendedLifetime(forgotten) {}
  }

  /// - Parameter alone: Whether nobody will ask for what was before.
  /// - Returns: What is not remembered any more.
  private func remember(_ change: ListChange, alone: Bool) -> Forgotten? {
    guard alone else { return log.append(change).map { .one($0) } }
    // Let go of while it is in the processor's cache.
    if let only = log.replaceOnly(by: change) { return .one(only) }
    let all = log.forgetAll()
    _ = log.append(change)
    return all.isEmpty ? nil : .all(all)
  }

  private enum Forgotten {
    case one(ListChange)
    case all([ChangeLog.Step])
  }
}

// MARK: - For those that follow

extension ListHistory {
  /// Takes in one that follows from the version that the list has now.
  func join(_ follower: ListFollower) {
    withLock {
      follower.version = log.version
      follower.next = first
      first?._withUnsafeGuaranteedRef { $0.previous = .passUnretained(follower) }
      first = .passUnretained(follower)
    }
  }

  /// Lets go of one that follows.
  func leave(_ follower: ListFollower) {
    withLock {
      if follower.kept == nil { unlink(follower) }
    }
  }

  /// What the list was at the version of one that follows.
  func order(for follower: ListFollower) -> CountedTree<AnyBox> {
    let (now, after) = withLock { () -> (CountedTree<AnyBox>, [ListChange]) in
      if let kept = follower.kept { return (kept.order, []) }
      return (order, changes(since: follower.version))
    }
    return Self.undo(after, in: now)
  }

  /// How many elements the list had at the version of one that follows.
  func count(for follower: ListFollower) -> Int {
    withLock {
      follower.kept?.order.count
        ?? changes(since: follower.version).reduce(order.count) { $0 - $1.growth }
    }
  }

  /// The changes that lead from an earlier version to that of one that follows; nil if they are not known.
  func changes(from earlier: UInt64, to follower: ListFollower) -> [ListChange]? {
    withLock {
      guard follower.kept == nil, let all = log.since(earlier) else { return nil }
      let later = changes(since: follower.version).count
      return later <= all.count ? all.dropLast(later) : nil
    }
  }

  /// Whether some follow, and all of them have come to what the list is now.
  private var isFollowedUpToNow: Bool {
    var next = first
    while let follower = next {
      guard follower._withUnsafeGuaranteedRef({ $0.version == log.version }) else {
        return false
      }
      next = follower._withUnsafeGuaranteedRef { $0.next }
    }
    return first != nil
  }

  /// Lets those that follow from a version keep what the list was then.
  private func keep(_ version: UInt64) {
    var kept: KeptOrder?
    var next = first
    while let follower = next {
      follower._withUnsafeGuaranteedRef { follower in
        next = follower.next
        guard follower.version == version else { return }
        if kept == nil { kept = KeptOrder(Self.undo(changes(since: version), in: order)) }
        unlink(follower)
        follower.kept = kept
      }
    }
  }

  private func changes(since version: UInt64) -> [ListChange] {
    guard let changes = log.since(version) else {
      // Going on would show subscribers a list that never was.
      preconditionFailure("a version that is followed is kept before it is forgotten")
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

  private func unlink(_ follower: ListFollower) {
    // In hand, so that the closures do not count the follower: counting it down here could end it, and
    // its end waits for the lock.
    let (previous, next) = (follower.previous, follower.next)
    if let previous {
      previous._withUnsafeGuaranteedRef { $0.next = next }
    } else {
      first = next
    }
    next?._withUnsafeGuaranteedRef { $0.previous = previous }
    follower.next = nil
    follower.previous = nil
  }

  private func withLock<Result>(_ body: () -> Result) -> Result {
    ListLocks.withLock(of: self, body)
  }
}

// because what changes it, and what is asked of it while it may change, goes through the lock.
extension ListHistory: @unchecked Sendable {}
