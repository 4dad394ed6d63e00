// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@testable import VersionedList

@Suite("Keyed list")
struct KeyedListTests {
  /// Ids that are equal by Swift's `==`, but have different bytes.
  static let twins = ["\u{e9}", "e\u{301}", "\u{1e69}", "s\u{323}\u{307}", "s\u{307}\u{323}"]

  // MARK: Single calls

  @Test("a new list is empty")
  func empty() {
    var list = KeyedList<Item>()
    #expect(list.isEmpty && list.count == 0 && list.ids == [])
    #expect(!list.contains(id: "1") && list[id: "1"] == nil && list.position(of: "1") == nil)
    let removed = list.remove(id: "1")
    let isUpdated = list.update(id: "1") { $0.title = "x" }
    let isMoved = list.move(id: "1", before: nil)
    #expect(removed == nil && !isUpdated && !isMoved)
    check(list, [])
  }

  @Test("elements are inserted at the given position")
  func insert() {
    var list: KeyedList<Item> = [Item("a"), Item("b")]
    list.append(Item("c"))
    list.insert(Item("d"), before: "a")
    list.insert(Item("e"), before: "unknown")
    list.insert(Item("f"), before: nil)
    list.insert(Item("g"), at: 1)
    list.insert(Item("h"), at: 7)
    check(list, ["d", "g", "a", "b", "c", "e", "f", "h"].map { Item($0) })
  }

  @Test("an element with an existing id replaces the old one at its position")
  func replace() {
    var list = KeyedList<Item>(count: 4)
    list.append(Item("2", "appended"))
    list.insert(Item("3", "inserted"), at: 0)
    list.insert(Item("4", "before"), before: "1")
    check(
      list, [Item("1", "1"), Item("2", "appended"), Item("3", "inserted"), Item("4", "before")])
  }

  @Test("of several elements with one id the last is kept, at the position of the first")
  func duplicates() throws {
    let elements = [Item("a", "1"), Item("b", "1"), Item("a", "2"), Item("c"), Item("a", "3")]
    let expected = [Item("a", "3"), Item("b", "1"), Item("c")]
    check(KeyedList(elements), expected)
    check(try JSON.decode(KeyedList<Item>.self, from: JSON.encode(elements)), expected)
  }

  @Test("ids are compared by their bytes")
  func canonicalEquivalence() {
    var list = KeyedList<Item>(ids: Self.twins)
    check(list, Self.twins.map { Item($0, $0) })
    list.update(id: Self.twins[1]) { $0.title = "decomposed" }
    #expect(list[id: Self.twins[0]]?.title == Self.twins[0])
    #expect(list[id: Self.twins[1]]?.title == "decomposed")
    list.remove(id: Self.twins[2])
    #expect(list.position(of: Self.twins[3]) == 2)
    #expect(list.position(of: Self.twins[2]) == nil)
  }

  @Test(
    "`move` moves an element before another one or to the end",
    arguments: [
      ("a", "c", "bacd"), ("a", "d", "bcad"), ("d", "a", "dabc"), ("d", "b", "adbc"),
      ("a", nil, "bcda"), ("c", nil, "abdc"),
      // Moves that change nothing.
      ("a", "b", "abcd"), ("a", "a", "abcd"), ("d", nil, "abcd"),
    ] as [(String, String?, String)])
  func move(id: String, before: String?, expected: String) {
    var list = KeyedList<Item>(ids: ["a", "b", "c", "d"])
    let areThere = list.move(id: id, before: before)
    #expect(areThere)
    check(list, expected.map { Item("\($0)", "\($0)") })
  }

  @Test("`move` changes nothing if either id does not exist")
  func moveUnknown() {
    var list = KeyedList<Item>(ids: ["a", "b"])
    for (id, before) in [("x", "a"), ("x", nil), ("b", "x")] {
      let areThere = list.move(id: id, before: before)
      #expect(!areThere)
    }
    check(list, [Item("a", "a"), Item("b", "b")])
  }

  @Test("lists are equal if their elements are equal, however they were made")
  func equality() {
    var list = KeyedList<Item>(ids: ["b", "a", "c"])
    list.move(id: "a", before: "b")
    #expect(list == KeyedList(ids: ["a", "b", "c"]))
    #expect(list != KeyedList(ids: ["a", "b"]))
    #expect(list != KeyedList(ids: ["a", "c", "b"]))
  }

  @Test("a list is encoded to JSON and decoded again")
  func roundTrip() throws {
    for count in [0, 1, 17, 300] {
      let list = KeyedList<Item>(count: count)
      let bytes = try JSON.encode(list)
      #expect(bytes == list.jsonBytes())
      #expect(try bytes == JSON.encode(Array(list)))
      check(try JSON.decode(KeyedList<Item>.self, from: bytes), Array(list))
    }
  }

  @Test("any encoder encodes a list as an array")
  func encoder() throws {
    struct Wrapper: Encodable {
      let list: KeyedList<Item>
      func encode(to encoder: any Encoder) throws { try list.encode(to: encoder) }
    }
    let list = KeyedList<Item>(count: 3)
    #expect(try JSON.encode(Wrapper(list: list)) == JSON.encode(Array(list)))
  }

  // MARK: Random calls

  @Test(
    "a list behaves as an array with unique ids, and its copies do not change",
    arguments: 1...30 as ClosedRange<UInt64>)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let start = [0, 1, 40, 400, 3_000][random.below(5)]
    var list = KeyedList<Item>(count: start)
    var model = ListModel(Array(list))
    var held: [(KeyedList<Item>, ListModel)] = []
    for step in 0..<500 {
      if random.below(60) == 0 { held.append((list, model)) }
      let change = ListModel.Change.random(in: list, &random)
      model.apply(change, step)
      list.apply(change, step)
      if step % 100 == 99 { check(list, model.items, "\(random), step \(step), \(change)") }
    }
    for (list, model) in held { check(list, model.items, "\(random), held") }
  }

  @Test(
    "a list with equal hashes of ids behaves in the same way",
    arguments: [0, 2, 0x1E, 0x1FE, ~1] as [UInt64], 1...5 as ClosedRange<UInt64>)
  func equalHashes(mask: UInt64, seed: UInt64) {
    EqualHashes.$mask.withValue(mask) { random(seed: seed) }
  }

  @Test(
    "labels never run out, wherever elements are inserted",
    arguments: ["front", "second", "middle", "last but one", "end", "two places", "everywhere"])
  func labels(place: String) {
    var random = SeededGenerator(seed: 4)
    var list = KeyedList<Item>(count: 100)
    var model = list.ids
    for number in 0..<10_000 {
      let position =
        switch place {
        case "front": 0
        case "second": 1
        case "middle": 50
        case "last but one": model.count - 1
        case "end": model.count
        case "two places": number.isMultiple(of: 2) ? 20 : model.count - 20
        default: random.below(model.count + 1)
        }
      list.insert(Item("new \(number)"), at: position)
      model.insert("new \(number)", at: position)
    }
    #expect(list.ids == model)
    #expect(list.faults == [])
  }

  @Test(
    "labels never run out when elements are moved to one place", arguments: [nil, "1", "50", "100"])
  func moves(before: String?) {
    var list = KeyedList<Item>(count: 100)
    var model = list.ids
    for number in 0..<10_000 {
      let id = model[(number * 37) % 100]
      list.move(id: id, before: before)
      guard id != before else { continue }
      model.removeAll { $0 == id }
      model.insert(id, at: before.flatMap(model.firstIndex(of:)) ?? model.count)
    }
    #expect(list.ids == model)
    #expect(list.faults == [])
  }

  @Test("labels are redistributed rarely, so that insertions at one place stay cheap")
  func relabelling() {
    var list = KeyedList<Item>(count: 1_000)
    var labels = list.order.entries.map(\.key)
    var spread = 0
    for number in 0..<10_000 {
      list.insert(Item("new \(number)"), at: 500)
      labels.insert(list.order.key(at: 500), at: 500)
      // A redistribution changes a neighbour, so all labels are compared only in that case.
      if labels[499] == list.order.key(at: 499), labels[501] == list.order.key(at: 501) { continue }
      let now = list.order.entries.map(\.key)
      spread += zip(labels, now).count { $0 != $1 }
      labels = now
    }
    #expect(labels == list.order.entries.map(\.key))
    #expect(spread > 0)
    #expect(spread < 10_000 * 40)
  }

  // MARK: Cost

  @Test("a list is changed in place, and with a copy only one path is copied")
  func cost() {
    var list = KeyedList<Item>(count: 10_000)
    let before = list.shape
    list.update(id: "5000") { $0.title = "renamed" }
    list.insert(Item("7000", "replaced"), at: 3)
    list.move(id: "5000", before: "5002")
    #expect(list.shape.nodesNot(in: before) == 0)

    let held = list
    list.update(id: "5000") { $0.title = "again" }
    #expect(list.shape.nodesNot(in: held.shape) == list.order.height + 1)
    #expect(held[id: "5000"]?.title == "renamed")
  }

  private func check(
    _ list: KeyedList<Item>, _ items: [Item], _ comment: Comment = "",
    at location: SourceLocation = #_sourceLocation
  ) {
    #expect(Array(list) == items, comment, sourceLocation: location)
    #expect(list.count == items.count, comment, sourceLocation: location)
    #expect(list.underestimatedCount == items.count, comment, sourceLocation: location)
    #expect(list.faults == [], comment, sourceLocation: location)
    for position in Set([0, items.count / 2, items.count - 1])
    where items.indices.contains(position) {
      let item = items[position]
      #expect(list[position] == item, comment, sourceLocation: location)
      #expect(list[id: item.id] == item, comment, sourceLocation: location)
      #expect(list.contains(id: item.id), comment, sourceLocation: location)
    }
  }
}
