// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import VersionedList

extension CountedTreeTests {
  @Test(
    "operations by key give the results of a linear search",
    arguments: [1, 9, 40, 600, 3_000])
  func keys(size: Int) {
    var random = SeededGenerator(seed: UInt64(size))
    // Some keys have several entries and some have none.
    func key() -> UInt64 { UInt64(random.below(size * 2)) }
    var tree = Tree()
    var model: [Tree.Entry] = []
    var held: [(Tree, [Tree.Entry])] = []
    for step in 0..<size * 6 {
      if step % (size * 2) == size { held.append((tree, model)) }
      let key = key()
      let equal = model.indices.filter { model[$0].key == key }
      switch random.below(4) {
      case 0, 1:
        let isNew = tree.insertOnly(.init(key: key, payload: step))
        #expect(isNew == equal.isEmpty)
        guard isNew else { break }
        let rank = model.firstIndex { $0.key > key } ?? model.count
        model.insert(.init(key: key, payload: step), at: rank)
      case 2 where random.below(20) == 0:
        // Inserts an entry with an existing key, as happens if two hashes are equal.
        let rank =
          (equal.last ?? model.firstIndex { $0.key > key }.map { $0 - 1 } ?? model.count - 1) + 1
        tree.insert(.init(key: key, payload: step), at: rank)
        model.insert(.init(key: key, payload: step), at: rank)
      case 2:
        guard case .one(let (_, path)) = tree.only(key) else { break }
        tree.update(along: path) { $0 = step }
        if let index = equal.first { model[index].payload = step }
      default:
        let found = tree.only(key)
        if case .one(let (payload, path)) = found, random.below(2) == 0 {
          let taken = tree.remove(along: path)
          #expect(equal.count == 1 && taken.key == key && taken.payload == payload)
          if let index = equal.first { model.remove(at: index) }
          break
        }
        let removed = tree.removeIfOnly(key)
        switch (found, removed) {
        case (.nothing, .nothing): #expect(equal.isEmpty)
        case (.perhapsSeveral, .perhapsSeveral): #expect(!equal.isEmpty)
        case (.one(let found), .one(let taken)):
          #expect(equal.count == 1 && found.payload == taken)
          if let index = equal.first { #expect(model.remove(at: index).payload == taken) }
        default: Issue.record("`only` and `removeIfOnly` do not agree, \(random)")
        }
      }
      #expect(tree.count == model.count && tree.lastKey == model.last?.key)
      if step % size == 0 { check(tree, model, "\(random), step \(step)") }
    }
    check(tree, model, "\(random)")
    for (tree, model) in held { check(tree, model, "\(random), held") }
  }

  @Test(
    "keys are found with every distribution",
    arguments: [
      "evenly", "side by side", "in clusters", "all but one at the beginning",
      "all but one at the end", "over all numbers",
    ])
  func spread(_ how: String) {
    let count = 5_000
    var random = SeededGenerator(seed: UInt64(count))
    let keys = (0..<UInt64(count)).map { number -> UInt64 in
      switch how {
      case "evenly": number << 32
      case "side by side": .max - UInt64(count) + 1 + number
      case "in clusters": (number / 100) << 50 + number % 100
      case "all but one at the beginning": number == UInt64(count) - 1 ? .max : number
      case "all but one at the end": number == 0 ? 0 : .max - UInt64(count) + number
      default: number * (.max / UInt64(count - 1))
      }
    }
    let sorted = keys.enumerated().map { Tree.Entry(key: $1, payload: $0) }
    var grown = Tree()
    for entry in sorted.shuffled(using: &random) {
      let isNew = grown.insertOnly(entry)
      #expect(isNew)
    }
    for var tree in [Tree(sorted: sorted), grown] {
      for (rank, key) in keys.enumerated() {
        #expect(tree.rank(ofFirstKeyFrom: key) == rank)
        switch tree.only(key) {
        case .nothing: Issue.record("\(key) was not found")
        case .one(let (payload, path)):
          #expect(payload == rank)
          tree.update(along: path) { $0 = -rank }
          #expect(tree.entry(at: rank).payload == -rank)
          tree.update(along: path) { $0 = rank }
        case .perhapsSeveral: break
        }
        if key < .max, rank + 1 == count || keys[rank + 1] > key + 1 {
          #expect(tree.rank(ofFirstKeyFrom: key + 1) == rank + 1)
          guard case .nothing = tree.only(key + 1) else {
            Issue.record("\(key + 1) must not be found")
            return
          }
        }
      }
      if let first = keys.first, first > 0 {
        guard case .nothing = tree.only(first - 1), tree.rank(ofFirstKeyFrom: 0) == 0 else {
          Issue.record("no key must be found below the first one")
          return
        }
      }
      for (rank, key) in keys.enumerated() {
        guard case .one(rank) = tree.removeIfOnly(key) else {
          Issue.record("\(key) was not removed")
          return
        }
      }
      #expect(tree.count == 0)
    }
  }

  @Test("`only` is unclear only at the beginning of a leaf or for equal keys")
  func several() {
    let tree = Tree(sorted: (0..<1_000).map { .init(key: UInt64($0), payload: $0) })
    var unclear = 0
    for key in 0..<1_000 {
      switch tree.only(UInt64(key)) {
      case .one(let found): #expect(found.payload == key)
      case .perhapsSeveral: unclear += 1
      case .nothing: Issue.record("\(key) was not found")
      }
    }
    #expect(unclear == (1_000 - 1) / Tree.Leaf.capacity)
  }
}
