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
  /// Each with the version before it. Once there are so many that one has to go for each that comes,
  /// the oldest stands at `oldest`.
  private var changes: [(version: UInt64, change: ListChange)] = []
  private var oldest = 0

  init() {
    version = ListVersion.next()
    origin = version
  }

  mutating func append(_ change: ListChange) {
    let next = ListVersion.next()
    if changes.count < Self.most {
      changes.append((version, change))
    } else {
      changes[oldest] = (version, change)
      oldest = (oldest + 1) % Self.most
    }
    version = next
  }

  /// The change that leads from an earlier version to this one; nil if that takes none, or several.
  func only(since earlier: UInt64) -> ListChange? {
    guard !changes.isEmpty else { return nil }
    let newest = changes[index(back: 0)]
    return newest.version == earlier ? newest.change : nil
  }

  /// The changes that lead from an earlier version to this one; nil if that is not known (any more).
  func since(_ earlier: UInt64) -> [ListChange]? {
    if earlier == version { return [] }
    // The newest first: whoever follows a list is rarely more than one change behind.
    guard let back = changes.indices.first(where: { changes[index(back: $0)].version == earlier })
    else { return nil }
    return (0...back).reversed().map { changes[index(back: $0)].change }
  }

  /// Where a change stands, 0 for the newest.
  private func index(back: Int) -> Int {
    (oldest + changes.count - 1 - back) % changes.count
  }

  /// Takes the version of another list whose changes have been carried over.
  mutating func follow(origin: UInt64, version: UInt64) {
    self.version = version
    self.origin = origin
    if !changes.isEmpty { changes.removeAll() }
    oldest = 0
  }
}

private enum ListVersion {
  private static let last = Atomic<UInt64>(0)
  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
