// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// One change of a list, by positions in the list as it was just before the change.
enum ListChange: Sendable {
  case insert(Int, CountedTree<AnyBox>.Entry)
  case update(Int, AnyBox)
  case remove(Int)
  /// From a position to one counted after the removal, where it gets a new label.
  case move(from: Int, to: Int, label: UInt64)
  /// The elements of a range get the labels `low + step`, `low + 2 * step` and so on.
  case relabel(Range<Int>, low: UInt64, step: UInt64)
}

/// The latest changes of a list, and the name of each version they lead through.
///
/// Every change gives the list a version that no other list ever has, so two copies that went
/// different ways are never mistaken for one another.
struct RecentChanges: Sendable {
  // Enough for what one action does at once. An older version is compared element by element.
  private static var most: Int { 64 }

  /// The version that the list was made with; lists of one origin have comparable labels.
  private(set) var origin: UInt64
  private(set) var version: UInt64
  private var changes: [(version: UInt64, change: ListChange)] = []

  init() {
    version = ListVersion.next()
    origin = version
  }

  mutating func append(_ change: ListChange) {
    if changes.count == 2 * Self.most { changes.removeFirst(Self.most) }
    let next = ListVersion.next()
    changes.append((version, change))
    version = next
  }

  /// The changes that lead from an earlier version to this one; nil if that is not known (any more).
  func since(_ earlier: UInt64) -> ArraySlice<(version: UInt64, change: ListChange)>? {
    if earlier == version { return [] }
    // The newest first: whoever follows a list is rarely more than one change behind.
    guard let first = changes.lastIndex(where: { $0.version == earlier }) else { return nil }
    return changes[first...]
  }

  /// Takes the version of another list whose changes have been carried over.
  mutating func follow(_ other: RecentChanges) {
    version = other.version
    origin = other.origin
    changes.removeAll()
  }
}

private enum ListVersion {
  private static let last = Atomic<UInt64>(0)
  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
