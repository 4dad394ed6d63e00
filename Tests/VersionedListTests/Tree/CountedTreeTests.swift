// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import VersionedList

@Suite("Counted tree")
struct CountedTreeTests {
  typealias Tree = CountedTree<Int>

  static let sizes = [0, 1, 2, 5, 15, 16, 17, 31, 33, 256, 257, 272, 1_000, 5_000]

  @Test("a tree of any size is built in key order", arguments: sizes)
  func build(size: Int) {
    let entries = (0..<size).map { Tree.Entry(key: UInt64($0) * 10, payload: $0) }
    check(Tree(sorted: entries), entries)
  }

  @Test("a tree behaves as an array of entries, and its copies do not change", arguments: sizes)
  func random(size: Int) {
    var random = SeededGenerator(seed: UInt64(size) + 1)
    var model: [Tree.Entry] = []
    var tree = Tree()
    for number in 0..<size { insert(number, &tree, &model, &random) }
    check(tree, model, "\(random), grown")

    var held: [(Tree, [Tree.Entry])] = []
    for step in 0..<400 {
      if step % 80 == 0 { held.append((tree, model)) }
      switch random.below(3) {
      case 0:
        insert(step, &tree, &model, &random)
      case 1 where !model.isEmpty:
        let rank = random.below(model.count)
        tree.update(at: rank) { $0.payload = -step }
        model[rank].payload = -step
      default:
        remove(&tree, &model, &random)
      }
      if step % 40 == 0 { check(tree, model, "\(random), step \(step)") }
    }
    for (tree, model) in held { check(tree, model, "\(random), held") }

    while !model.isEmpty {
      remove(&tree, &model, &random)
      if model.count % 500 == 3 { check(tree, model, "\(random), shrinking") }
    }
    check(tree, model, "\(random), empty")
    for (tree, model) in held { check(tree, model, "\(random), held to the end") }
  }

  @Test(
    "the nodes stay within their bounds when all insertions are at one place",
    arguments: [0.0, 0.3, 0.5, 1.0])
  func onePlace(share: Double) {
    // Regression: each entry that was inserted after a full leaf got its own leaf.
    var tree = Tree(sorted: (0..<64).map { .init(key: UInt64($0), payload: $0) })
    var model = tree.entries
    for number in 0..<2_000 {
      let rank = Int(share * 64)
      let key = rank == 0 ? 0 : model[rank - 1].key
      tree.insert(.init(key: key, payload: number), at: rank)
      model.insert(.init(key: key, payload: number), at: rank)
    }
    check(tree, model)
    while model.count > 10 {
      let rank = min(Int(share * 64), model.count - 1)
      let removed = tree.remove(at: rank).payload
      let expected = model.remove(at: rank).payload
      #expect(removed == expected)
    }
    check(tree, model)
  }

  @Test("an entry is found by its key, with the key before it in the same leaf", arguments: sizes)
  func before(size: Int) {
    let box = Counted(Tally())
    let tree = CountedTree<AnyBox>(
      sorted: (0..<size).map { .init(key: UInt64($0) * 2 + 1, payload: box) })
    var inside = 0
    for rank in 0..<size {
      #expect(tree.withEntry(of: UInt64(rank) * 2) { place, _ in place } == nil)
      let place = tree.withEntry(of: UInt64(rank) * 2 + 1) { place, _ in place }
      #expect(place?.rank == rank)
      guard let below = place?.below else { continue }
      #expect(below == UInt64(rank) * 2 - 1)
      inside += 1
    }
    #expect(inside >= size - 1 - size / TreeNode<CountedTree<AnyBox>.Entry>.minimum)
  }

  @Test("a tree holds each payload once and releases it", arguments: [4, 33, 1_000])
  func references(size: Int) throws {
    let alive = Tally()
    var random = SeededGenerator(seed: UInt64(size))
    var tree: CountedTree<AnyBox>? = CountedTree(
      sorted: (0..<size).map { .init(key: UInt64($0) << 32, payload: Counted(alive)) })
    var held: [CountedTree<AnyBox>] = []
    for step in 0..<4 * size {
      if step % size == 1 { held.append(try #require(tree)) }
      let rank = random.below(size)
      switch step % 3 {
      case 0: tree?.update(at: rank) { $0.payload = Counted(alive) }
      case 1:
        let key = try #require(tree?.key(at: rank))
        tree?.insert(.init(key: key, payload: Counted(alive)), at: rank)
      default: tree?.remove(at: rank)
      }
    }
    let count = try #require(tree?.count)
    #expect(alive.count >= count)
    held.removeAll()
    #expect(alive.count == count)
    tree?.visitPayloads { _ in }
    let key = try #require(tree?.key(at: size - 2))
    let found = tree?.withEntry(of: key) { place, box in (place.rank, ObjectIdentifier(box)) }
    let (rank, box) = try #require(found)
    #expect(tree?.key(at: rank) == key)
    #expect(tree.map { ObjectIdentifier($0.entry(at: rank).payload) } == box)
    #expect(tree?.withEntry(of: .max) { _, _ in true } == nil)
    tree = nil
    #expect(alive.count == 0)
  }

  /// A payload that counts its live instances.
  private final class Counted: Sendable {
    private let alive: Tally

    init(_ alive: Tally) {
      self.alive = alive
      alive.add()
    }

    deinit { alive.add(-1) }
  }

  @Test("equal keys are distinguished by rank")
  func equalKeys() {
    var tree = Tree()
    for number in 0..<100 {
      tree.insert(.init(key: 7, payload: number), at: tree.rank(ofFirstKeyFrom: 7))
    }
    for number in 0..<50 { tree.insert(.init(key: 9, payload: number), at: 100) }
    check(tree, tree.entries)
    #expect(tree.entries.prefix(100).map(\.payload) == (0..<100).reversed())
    #expect(tree.first(from: 7)?.entry.payload == 99)
    #expect(tree.first(from: 8)?.rank == 100)
    #expect(tree.first(from: 10) == nil)
  }

  @Test("an update may change the key of an entry")
  func keys() {
    var tree = Tree(sorted: (0..<600).map { .init(key: UInt64($0) * 2, payload: $0) })
    var model = tree.entries
    for rank in 0..<600 {
      tree.update(at: rank) { $0.key += 1 }
      model[rank].key += 1
    }
    check(tree, model)
  }

  @Test("a visit starts at any rank and ends when the closure returns false")
  func walk() {
    let tree = Tree(sorted: (0..<700).map { .init(key: UInt64($0), payload: $0) })
    for start in [0, 1, 15, 16, 17, 255, 256, 699, 700, 900] {
      var seen: [Int] = []
      tree.visit(from: start) {
        seen.append($0.payload)
        return seen.count < 20
      }
      #expect(seen == Array((0..<700).dropFirst(start).prefix(20)))
    }
  }

  // MARK: Cost

  @Test("a tree without copies is changed in place")
  func inPlace() {
    var tree = Tree(sorted: (0..<5_000).map { .init(key: UInt64($0), payload: $0) })
    let before = Shape(tree)
    for rank in stride(from: 0, to: 5_000, by: 7) { tree.update(at: rank) { $0.payload += 1 } }
    #expect(Shape(tree).nodesNot(in: before) == 0)
    // A leaf that loses one entry and gains one is neither split nor merged.
    let removed = tree.remove(at: 2_500)
    tree.insert(removed, at: 2_500)
    #expect(Shape(tree).nodesNot(in: before) == 0)
  }

  @Test("with a copy one path is copied, and only once")
  func path() {
    var tree = Tree(sorted: (0..<5_000).map { .init(key: UInt64($0), payload: $0) })
    let held = tree
    tree.update(at: 2_500) { $0.payload = 0 }
    let once = Shape(tree)
    #expect(once.nodesNot(in: Shape(held)) == tree.height + 1)
    tree.update(at: 2_500) { $0.payload = 1 }
    #expect(Shape(tree).nodesNot(in: once) == 0)
    #expect(held.entry(at: 2_500).payload == 2_500)
  }

  // MARK: -

  func check(
    _ tree: Tree, _ model: [Tree.Entry], _ comment: Comment = "",
    at location: SourceLocation = #_sourceLocation
  ) {
    let payloads = model.map(\.payload)
    #expect(tree.count == model.count, comment, sourceLocation: location)
    #expect(tree.entries.map(\.payload) == payloads, comment, sourceLocation: location)
    #expect(Shape(tree).faults == [], comment, sourceLocation: location)
    for rank in Set([0, model.count / 3, model.count / 2, model.count - 1])
    where model.indices.contains(rank) {
      let key = model[rank].key
      let first = model.firstIndex { $0.key >= key }
      #expect(tree.entry(at: rank).payload == payloads[rank], comment, sourceLocation: location)
      #expect(tree.rank(ofFirstKeyFrom: key) == first, comment, sourceLocation: location)
      let next = model.firstIndex { $0.key >= key + 1 } ?? model.count
      #expect(tree.rank(ofFirstKeyFrom: key + 1) == next, comment, sourceLocation: location)
      #expect(tree.key(at: rank) == key, comment, sourceLocation: location)
      let around = tree.keys(around: rank)
      #expect(around.above == key, comment, sourceLocation: location)
      let below = rank == 0 ? nil : model[rank - 1].key
      #expect(around.below == below, comment, sourceLocation: location)
      let found = tree.first(from: key + 1)
      #expect(found?.rank == (next < model.count ? next : nil), comment, sourceLocation: location)
      let payload = next < model.count ? payloads[next] : nil
      #expect(found?.entry.payload == payload, comment, sourceLocation: location)
    }
    #expect(tree.rank(ofFirstKeyFrom: 0) == 0, comment, sourceLocation: location)
  }

  /// Inserts a key that may exist already, at a random rank among equal keys.
  private func insert(
    _ number: Int, _ tree: inout Tree, _ model: inout [Tree.Entry],
    _ random: inout SeededGenerator
  ) {
    let key = UInt64(random.below(max(4, model.count)))
    let low = tree.rank(ofFirstKeyFrom: key)
    let rank = Int.random(in: low...tree.rank(ofFirstKeyFrom: key + 1), using: &random)
    tree.insert(.init(key: key, payload: number), at: rank)
    model.insert(.init(key: key, payload: number), at: rank)
  }

  private func remove(
    _ tree: inout Tree, _ model: inout [Tree.Entry], _ random: inout SeededGenerator
  ) {
    guard !model.isEmpty else { return }
    let rank = random.below(model.count)
    let removed = tree.remove(at: rank).payload
    let expected = model.remove(at: rank).payload
    #expect(removed == expected)
  }
}
