// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The change log of a list: its most recent changes, and the list versions between them.
///
/// Every change gives the list a version number that no other list ever has, so two copies that
/// were changed differently are never confused.
struct ChangeLog: Sendable {
  /// A change and the version before it.
  typealias Step = (version: UInt64, change: ListChange)

  // The most changes in the log, which is enough for the changes of one action. If all references
  // to a list are at its current version, the log keeps only the last change. The log of a list
  // without references keeps this many changes, with the elements that they removed.
  private static var most: Int { 64 }

  private(set) var version = VersionNumbers.takeBlock()
  /// The changes; when the array is full it is a ring buffer whose oldest change is at `oldest`.
  private var steps: [Step] = []
  private var oldest = 0
  /// False if the next version cannot be the next number, because another list continues with it.
  private var ownsBlock = true

  /// Adds a change.
  ///
  /// - Returns: The change that was dropped from the log, if it was full.
  mutating func append(_ change: ListChange) -> ListChange? {
    var step = (version: version, change: change)
    advance()
    guard steps.count == Self.most else {
      steps.append(step)
      return nil
    }
    swap(&steps[oldest], &step)
    oldest = (oldest + 1) % Self.most
    return step.change
  }

  /// Returns the log for a copy of the list, whose changes lead to other versions.
  func copy() -> ChangeLog {
    var copy = self
    copy.ownsBlock = false
    return copy
  }

  private mutating func advance() {
    if ownsBlock, let next = VersionNumbers.next(after: version) {
      version = next
    } else {
      version = VersionNumbers.takeBlock()
      ownsBlock = true
    }
  }

  /// Removes all changes.
  ///
  /// - Returns: The removed changes. A caller that holds a lock must release the lock before it
  ///   releases them, because they may contain the last reference to an element.
  mutating func removeAll() -> [Step] {
    oldest = 0
    var all: [Step] = []
    swap(&all, &steps)
    return all
  }

  /// Replaces the only change in the log.
  ///
  /// - Returns: The replaced change; nil if the log has no change or several changes, in which case
  ///   the log is unchanged.
  mutating func replaceOnly(by change: ListChange) -> ListChange? {
    guard steps.count == 1 else { return nil }
    var step = (version: version, change: change)
    advance()
    swap(&steps[0], &step)
    return step.change
  }

  /// The version whose change the next `append` will drop; nil if the log has space for another
  /// change.
  var nextDropped: UInt64? { steps.count == Self.most ? steps[oldest].version : nil }

  /// Returns the change from an earlier version to this one; nil if there is no change between them
  /// or more than one.
  func only(since earlier: UInt64) -> ListChange? {
    guard !steps.isEmpty else { return nil }
    let newest = steps[index(back: 0)]
    return newest.version == earlier ? newest.change : nil
  }

  /// Returns the changes from an earlier version to this one; nil if the log does not contain them.
  func since(_ earlier: UInt64) -> [ListChange]? {
    if earlier == version { return [] }
    // The search starts with the newest change, because a reference rarely lags by more than one
    // change.
    guard let back = steps.indices.first(where: { steps[index(back: $0)].version == earlier })
    else { return nil }
    return (0...back).reversed().map { steps[index(back: $0)].change }
  }

  /// Returns the index of a change, counted back from the newest, which is 0.
  private func index(back: Int) -> Int {
    (oldest + steps.count - 1 - back) % steps.count
  }
}

/// The numbers of versions. A list takes them in blocks, so that its changes write nothing that
/// lists on other threads use.
private enum VersionNumbers {
  private static let blockSize: UInt64 = 1024
  private static let blocks = Atomic<UInt64>(0)

  /// Returns the first number of a new block.
  static func takeBlock() -> UInt64 {
    blocks.wrappingAdd(1, ordering: .relaxed).newValue &* blockSize
  }

  /// Returns the next number of the block of a number; nil after the last one.
  static func next(after number: UInt64) -> UInt64? {
    let next = number &+ 1
    return next % blockSize == 0 ? nil : next
  }
}
