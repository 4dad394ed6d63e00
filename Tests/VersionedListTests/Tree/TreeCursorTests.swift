// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import VersionedList

@Suite("Tree cursor")
struct TreeCursorTests {
  typealias Tree = CountedTree<Int>

  @Test("a cursor visits the entries in order", arguments: [0, 1, 16, 17, 300, 5_000])
  func order(size: Int) {
    let tree = Tree(sorted: (0..<size).map { .init(key: UInt64($0), payload: $0) })
    var cursor = TreeCursor(tree)
    var seen: [Int] = []
    while let entry = cursor.entry {
      seen.append(entry.payload)
      cursor.next()
    }
    #expect(seen == Array(0..<size))
    cursor.next()
    #expect(cursor.entry == nil)
  }

  @Test("a cursor skips a completely shared tree in one step", arguments: [1, 16, 17, 5_000])
  func same(size: Int) {
    let tree = Tree(sorted: (0..<size).map { .init(key: UInt64($0), payload: $0) })
    var one = TreeCursor(tree)
    var other = TreeCursor(tree)
    #expect(TreeCursor.skipShared(&one, &other) == size)
    #expect(one.entry == nil && other.entry == nil)
    #expect(TreeCursor.skipShared(&one, &other) == 0)
  }

  @Test(
    "a cursor visits only the entries of a few leaves of 100,000 entries to find a change",
    arguments: [0, 1, 17, 50_000, 65_535, 65_536, 99_998])
  func handful(rank: Int) {
    // Regression: after one shared node, the cursor visited all entries of the following ones.
    let tree = Tree(sorted: (0..<100_000).map { .init(key: UInt64($0) * 2, payload: $0) })
    var changed = tree
    changed.update(at: rank) { $0.payload = -1 }
    check(tree, changed, changes: 1)

    changed = tree
    changed.insert(.init(key: UInt64(rank) * 2 + 1, payload: -1), at: rank + 1)
    check(tree, changed, changes: 1)

    changed = tree
    changed.remove(at: rank)
    check(tree, changed, changes: 1)

    // A move counts as two changes.
    changed = tree
    changed.insert(.init(key: 199_999, payload: -1), at: 100_000)
    changed.remove(at: rank)
    check(tree, changed, changes: 2)
  }

  @Test("cursors find every change between two versions with random changes")
  func random() {
    for seed in UInt64(1)...40 {
      var random = SeededGenerator(seed: seed)
      let size = random.below(3_000)
      let tree = Tree(sorted: (0..<size).map { .init(key: UInt64($0) << 20, payload: $0) })
      var changed = tree
      let changes = random.below(20)
      for number in 0..<changes {
        let key = UInt64(random.below(max(1, size) << 20))
        let rank = changed.rank(ofFirstKeyFrom: key)
        switch random.below(3) {
        case 0: changed.insert(.init(key: key, payload: -number), at: rank)
        case 1 where rank < changed.count: changed.update(at: rank) { $0.payload = -number }
        default: if rank < changed.count { changed.remove(at: rank) }
        }
      }
      let (_, seen) = merge(tree, changed)
      #expect(seen == changed.entries.map(\.payload), "\(random)")
    }
  }

  /// Checks that two versions are merged in few steps, and that only equal entries are skipped.
  private func check(
    _ old: Tree, _ new: Tree, changes: Int, at location: SourceLocation = #_sourceLocation
  ) {
    let (steps, seen) = merge(old, new)
    #expect(seen == new.entries.map(\.payload), sourceLocation: location)
    // The entries of one leaf per change and the end, but none of the neighbouring leaves.
    #expect(steps <= changes * (Tree.Leaf.capacity + 1) + 1, sourceLocation: location)
  }

  /// Merges two versions as lists do. Returns the number of steps and the payloads of `new`, where
  /// the payloads of skipped entries are taken from `old`.
  private func merge(_ old: Tree, _ new: Tree) -> (steps: Int, seen: [Int]) {
    let payloads = old.entries.map(\.payload)
    var one = TreeCursor(old)
    var other = TreeCursor(new)
    var position = 0
    var seen: [Int] = []
    var steps = 0
    while true {
      steps += 1
      let shared = TreeCursor.skipShared(&one, &other)
      seen += payloads[position..<position + shared]
      position += shared
      switch (one.entry, other.entry) {
      case (nil, nil):
        return (steps, seen)
      case (let mine?, let theirs?) where mine.key == theirs.key:
        seen.append(theirs.payload)
        one.next()
        other.next()
        position += 1
      case (let mine, let theirs?) where mine.map({ theirs.key < $0.key }) ?? true:
        seen.append(theirs.payload)
        other.next()
      default:
        one.next()
        position += 1
      }
    }
  }
}
