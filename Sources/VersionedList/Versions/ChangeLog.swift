// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The latest changes of a list, and the name of each list version that they lead through.
///
/// Every change gives the list a version that no other list ever has, so two copies that went
/// different ways are never mistaken for one another.
struct ChangeLog: Sendable {
  /// A change, with the version before it.
  typealias Step = (version: UInt64, change: ListChange)

  // Enough for what one action does at once. Once all who follow a list have come as far as it, only its last change
  // is kept; of a list that nobody follows so many are, with the elements that they have taken away.
  private static var most: Int { 64 }

  private(set) var version = VersionCounter.next()
  /// Once there are so many that one has to go for each that comes, the oldest stands at `oldest`.
  private var steps: [Step] = []
  private var oldest = 0

  /// Remembers a change.
  /// - Returns: One that is forgotten for it.
  mutating func append(_ change: ListChange) -> ListChange? {
    var step = (version: version, change: change)
    version = VersionCounter.next()
    guard steps.count == Self.most else {
      steps.append(step)
      return nil
    }
    swap(&steps[oldest], &step)
    oldest = (oldest + 1) % Self.most
    return step.change
  }

  /// Forgets all changes.
  ///
  /// - Returns: What was remembered. Whoever holds a lock must let go of it first: what is in it may be
  ///   the last reference to an element.
  mutating func forgetAll() -> [Step] {
    oldest = 0
    var all: [Step] = []
    swap(&all, &steps)
    return all
  }

  /// Remembers a change in place of the only one that is remembered.
  /// - Returns: That one; nil if there is none, or are several, and nothing has changed.
  mutating func replaceOnly(by change: ListChange) -> ListChange? {
    guard steps.count == 1 else { return nil }
    var step = (version: version, change: change)
    version = VersionCounter.next()
    swap(&steps[0], &step)
    return step.change
  }

  /// The version from which the next change takes the way here; nil if there is room for that change.
  var nextForgotten: UInt64? { steps.count == Self.most ? steps[oldest].version : nil }

  /// The change that leads from an earlier version to this one; nil if that takes none, or several.
  func only(since earlier: UInt64) -> ListChange? {
    guard !steps.isEmpty else { return nil }
    let newest = steps[index(back: 0)]
    return newest.version == earlier ? newest.change : nil
  }

  /// The changes that lead from an earlier version to this one; nil if that is not known (any more).
  func since(_ earlier: UInt64) -> [ListChange]? {
    if earlier == version { return [] }
    // The newest first: whoever follows a list is rarely more than one change behind.
    guard let back = steps.indices.first(where: { steps[index(back: $0)].version == earlier })
    else { return nil }
    return (0...back).reversed().map { steps[index(back: $0)].change }
  }

  /// Where a change stands, 0 for the newest.
  private func index(back: Int) -> Int {
    (oldest + steps.count - 1 - back) % steps.count
  }
}

private enum VersionCounter {
  private static let last = Atomic<UInt64>(0)
  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
