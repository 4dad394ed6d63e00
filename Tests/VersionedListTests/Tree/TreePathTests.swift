// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import VersionedList

extension CountedTreeTests {
  private final class Box: Sendable {}

  @Test(
    "updates and removals along paths give the results of an array", arguments: [1, 60, 700, 9_000])
  func paths(size: Int) {
    var random = SeededGenerator(seed: UInt64(size))
    var model: [CountedTree<AnyBox>.Entry] = []
    var tree = CountedTree<AnyBox>()
    // Random insertion order, so that the nodes have different sizes.
    for key in (0..<UInt64(size)).shuffled(using: &random) {
      let isNew = tree.insertOnly(.init(key: key * 2 + 1, payload: Box()))
      #expect(isNew)
    }
    model = tree.entries
    let (held, before) = (tree, model)

    while !model.isEmpty {
      // Half of the removals are at the beginning of a leaf.
      let starts = starts(of: tree)
      let rank =
        random.below(2) == 0 ? random.below(model.count) : starts[random.below(starts.count)]
      let key = model[rank].key
      let payload = model[rank].payload
      let place = tree.withEntry(of: key) { place, box in box === payload ? place : nil }
      guard let place, place.rank == rank, place.below.map({ $0 == model[rank - 1].key }) ?? true,
        tree.withEntry(of: key - 1, { place, _ in place }) == nil
      else {
        Issue.record("\(key) was not found at its rank, \(random)")
        return
      }
      if random.below(2) == 0 {
        let box: AnyBox = Box()
        tree.update(along: place.path) { $0 = box }
        model[rank].payload = box
        #expect(areSame([tree.entry(at: rank)], [model[rank]]))
      }
      // Removes this entry, and some more, so that the test is fast.
      for number in 0..<max(1, model.count / 200) {
        let key = number == 0 ? key : model[random.below(model.count)].key
        let rank = tree.rank(ofFirstKeyFrom: key)
        guard let place = tree.withEntry(of: key, { place, _ in place }) else { break }
        let removed = tree.remove(along: place.path)
        let expected = model.remove(at: rank)
        #expect(areSame([removed], [expected]))
      }
      #expect(Shape(tree).faults == [], "\(random)")
      guard areSame(tree.entries, model) else {
        Issue.record("the entries differ from those of the array, \(random)")
        return
      }
    }
    #expect(tree.count == 0)
    #expect(areSame(held.entries, before))
  }

  @Test("the first entry of every leaf of a tree with three levels is removed along its path")
  func firstOnes() {
    let size = 9_000
    let all = CountedTree<AnyBox>(
      sorted: (0..<size).map { .init(key: UInt64($0) * 2 + 1, payload: Box()) })
    #expect(all.height == 2)
    for rank in starts(of: all) {
      var tree = all
      let key = all.key(at: rank)
      guard let place = tree.withEntry(of: key, { place, _ in place }) else {
        Issue.record("\(key) was not found")
        continue
      }
      #expect(tree.remove(along: place.path).key == key)
      #expect(Shape(tree).faults == [] && tree.count == size - 1)
      #expect(tree.rank(ofFirstKeyFrom: key) == rank)
    }
  }

  /// Returns the ranks at which leaves begin.
  private func starts(of tree: CountedTree<AnyBox>) -> [Int] {
    tree.entries.indices.filter { rank in
      tree.withEntry(of: tree.key(at: rank)) { place, _ in place.below } == nil
    }
  }

  private func areSame(
    _ one: [CountedTree<AnyBox>.Entry], _ other: [CountedTree<AnyBox>.Entry]
  ) -> Bool {
    one.elementsEqual(other) { $0.key == $1.key && $0.payload === $1.payload }
  }
}
