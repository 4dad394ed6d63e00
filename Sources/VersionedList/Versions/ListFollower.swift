// SPDX-License-Identifier: Apache-2.0

/// A list version, by its name: what the list was when it was looked at last.
///
/// It holds no elements. They are the list's own with its latest changes undone; where the list is
/// about to forget one of these, it leaves what they were here.
///
/// `previous`, `next` and `kept` are the history's, which changes them under its lock. All else, and
/// `kept` once the history has let go of it, changes where nobody else holds the follower and somebody
/// has the list in hand, so that nobody changes that.
final class ListFollower {
  private(set) var history: ListHistory
  var version: UInt64 = 0
  var kept: KeptOrder?
  var previous: Unmanaged<ListFollower>?
  var next: Unmanaged<ListFollower>?

  /// Follows a list from now on.
  init(_ history: ListHistory) {
    self.history = history
    history.join(self)
  }

  deinit { history.leave(self) }

  /// The elements as they were: to be gone through, not to be searched, since labels may not rise where
  /// changes have been undone.
  var order: CountedTree<AnyBox> { history.order(for: self) }

  /// How many elements there were.
  var count: Int { history.count(for: self) }

  /// The changes that lead here from an earlier version; nil if they are not known.
  func changes(from earlier: UInt64) -> [ListChange]? { history.changes(from: earlier, to: self) }

  /// Goes on to what a list is now.
  ///
  /// - Precondition: nobody else holds `self`, and somebody holds the list.
  func follow(_ new: ListHistory) {
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

// because its history changes it under a lock, and whoever else does has it alone.
extension ListFollower: @unchecked Sendable {}

/// What a list was, for those that follow it from so far behind that it does not remember.
final class KeptOrder: Sendable {
  let order: CountedTree<AnyBox>
  init(_ order: CountedTree<AnyBox>) { self.order = order }
}
