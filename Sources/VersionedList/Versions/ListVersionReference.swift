// SPDX-License-Identifier: Apache-2.0

/// A reference to a list version: the version that the list had when the reference was last
/// updated.
///
/// A reference contains no elements. They are the list's elements with the latest changes undone.
/// Before the list drops one of these changes from its log, it saves the elements of that version
/// in `kept`.
///
/// The history changes `previous`, `next` and `kept` under its lock. All other members, and `kept`
/// after the history has removed the reference, are changed only by a caller that has the only
/// reference to this object and retains the list, so that no other code changes it at the same
/// time.
final class ListVersionReference {
  private(set) var history: ListHistory
  var version: UInt64 = 0
  var kept: SavedOrder?
  var previous: Unmanaged<ListVersionReference>?
  var next: Unmanaged<ListVersionReference>?

  /// Creates a reference to the current version of a list.
  init(_ history: ListHistory) {
    self.history = history
    history.join(self)
  }

  deinit { history.leave(self) }

  /// The elements of that version. They can be iterated but not searched, because labels may not
  /// increase where changes have been undone.
  var order: CountedTree<AnyBox> { history.order(for: self) }

  /// The number of elements of that version.
  var count: Int { history.count(for: self) }

  /// Returns the changes from an earlier version to this one; nil if they are not known.
  func changes(from earlier: UInt64) -> [ListChange]? { history.changes(from: earlier, to: self) }

  /// Updates the reference to the current version of a list.
  ///
  /// - Precondition: There is no other reference to `self`, and the caller retains the list.
  func update(to new: ListHistory) {
    if history === new, kept == nil {
      version = new.log.version
      return
    }
    history.leave(self)
    kept = nil
    history = new
    new.join(self)
  }
}

// because its history changes it under a lock, and other code only when it has the only reference.
extension ListVersionReference: @unchecked Sendable {}

/// The elements of a list version whose changes are no longer in the log.
final class SavedOrder: Sendable {
  let order: CountedTree<AnyBox>
  init(_ order: CountedTree<AnyBox>) { self.order = order }
}
