// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@testable import VersionedList

@Suite("Difference of lists")
struct ListDifferenceTests {
  // MARK: One change, one operation

  @Test(
    "one change is one operation",
    arguments: [
      (
        .append("new"),
        #"[{"op":"add","path":"/100","value":{"id":"new","title":"0","weight":null}}]"#
      ),
      (
        .insert("new", at: 50),
        #"[{"op":"add","path":"/50","value":{"id":"new","title":"0","weight":null}}]"#
      ),
      (.rename("50"), #"[{"op":"replace","path":"/49/title","value":"0"}]"#),
      (.append("50"), #"[{"op":"replace","path":"/49/title","value":"0"}]"#),
      (.remove("50"), #"[{"op":"remove","path":"/49"}]"#),
      (.move("50", before: "1"), #"[{"op":"move","from":"/49","path":"/0"}]"#),
      (.move("1", before: "50"), #"[{"op":"move","from":"/0","path":"/48"}]"#),
      (.move("1", before: nil), #"[{"op":"move","from":"/0","path":"/99"}]"#),
      (.remove("unknown"), "[]"), (.rename("unknown"), "[]"), (.move("1", before: "2"), "[]"),
      (.move("1", before: "unknown"), "[]"),
    ] as [(ListModel.Change, String)])
  func one(change: ListModel.Change, expected: String) throws {
    var list = KeyedList<Item>(count: 100)
    var reader = try Follower(list)
    list.apply(change, 0)
    try reader.follow(list)
    #expect(reader.text == expected)
  }

  @Test("a rename at 1,000 todos is one operation of less than 100 bytes")
  func rename() throws {
    var list = KeyedList<Item>(count: 1_000)
    var reader = try Follower(list)
    list.update(id: "500") { $0.title = "Bread and butter" }
    try reader.follow(list)
    #expect(reader.text.utf8.count < 100)
  }

  @Test("many changes of few elements give a patch hardly longer than the list")
  func manyChanges() throws {
    var list = KeyedList<Item>(count: 3)
    var reader = try Follower(list)
    for number in 0..<60 {
      list.update(id: "\(1 + number % 3)") {
        $0.title = String(repeating: "x", count: 1_000) + "\(number)"
      }
    }
    try reader.follow(list)
    #expect(reader.text.utf8.count < 3_500)
    let other = KeyedList<Item>((1...200).map { Item("other \($0)", "x") })
    try reader.follow(other)
    #expect(reader.operations.count == 1)
  }

  @Test("a change of bytes is a change, also between canonically equivalent strings")
  func bytes() throws {
    var list: KeyedList<Item> = [Item("1", "caf\u{e9}")]
    var reader = try Follower(list)
    list.update(id: "1") { $0.title = "cafe\u{301}" }
    try reader.follow(list)
    #expect(reader.operations.count == 1)
    list.update(id: "1") { $0.title = "cafe\u{301}" }
    try reader.follow(list)
    #expect(reader.operations.isEmpty)
  }

  // MARK: Changes that cancel each other

  @Test(
    "changes that cancel each other give no operation",
    arguments: [
      "rename and back", "add and remove", "remove and add again", "move and back",
      "turn round and back", "two away and back", "all out and in again", "more than it remembers",
      "longer than the list",
    ])
  func undone(what: String) throws {
    // Regression: elements that were moved away and back have new labels, and were taken for other
    // elements. Regression, found by fuzzing: changes whose operations are longer than the list
    // were not compared, so that the whole list was sent.
    var list = KeyedList<Item>(count: 40)
    var reader = try Follower(list)
    let ids = list.ids
    switch what {
    case "rename and back":
      list.update(id: "7") { $0.title = "x" }
      list.update(id: "7") { $0.title = "7" }
    case "add and remove":
      list.insert(Item("new"), at: 20)
      list.remove(id: "new")
    case "remove and add again":
      for position in [0, 20, 39] {
        let item = list[position]
        list.remove(id: item.id)
        list.insert(item, at: position)
      }
    case "move and back":
      list.move(id: "20", before: "1")
      list.move(id: "20", before: "21")
    case "turn round and back":
      for id in ids { list.move(id: id, before: ids[0]) }
      for id in ids { list.move(id: id, before: nil) }
    case "two away and back":
      list.move(id: "2", before: nil)
      list.move(id: "3", before: nil)
      list.move(id: "2", before: "4")
      list.move(id: "3", before: "4")
    case "longer than the list":
      for number in 0..<60 { list.update(id: "7") { $0.title = ["x", "7"][number % 2] } }
    case "all out and in again":
      for id in ids { list.remove(id: id) }
      for id in ids { list.append(Item(id, id)) }
    default:
      for number in 0..<500 { list.insert(Item("new \(number)"), at: 20) }
      for id in ids { list.move(id: id, before: nil) }
      for number in 0..<500 { list.remove(id: "new \(number)") }
    }
    #expect(list.ids == ids)
    try reader.follow(list)
    #expect(reader.text == "[]")
    // The subscriber can continue from this version.
    list.update(id: "7") { $0.title = "seven" }
    try reader.follow(list)
    #expect(reader.operations.count == 1)
  }

  // MARK: Subscribers with an old version

  @Test(
    "many changes give as many operations", arguments: [2, 63, 64, 65, 127, 128, 129, 400])
  func many(count: Int) throws {
    var list = KeyedList<Item>(count: 1_000)
    var reader = try Follower(list)
    for number in 0..<count { list.update(id: "\(number * 2 + 1)") { $0.title = "x" } }
    try reader.follow(list)
    #expect(reader.operations.count == count)
  }

  @Test("a redistribution of labels adds no operation, however old the version is")
  func relabelled() throws {
    // Regression: a subscriber kept the old labels, so that a later comparison by labels found a
    // change in every element near them.
    var list = KeyedList<Item>(count: 1_000)
    var reader = try Follower(list)
    for number in 0..<100 {
      list.insert(Item("new \(number)"), at: 500)
      try reader.follow(list)
      #expect(reader.operations.count == 1)
    }
    for number in 0..<300 { list.update(id: "\(number + 1)") { $0.title = "x" } }
    try reader.follow(list)
    #expect(reader.operations.count == 300)
  }

  @Test("a reload of equal elements is not a change")
  func reload() throws {
    var reader = try Follower(KeyedList<Item>(count: 300))
    try reader.follow(KeyedList<Item>(count: 300))
    #expect(reader.text == "[]")
  }

  @Test("a reload with few differences gives few operations")
  func reloadWithDifferences() throws {
    var reader = try Follower(KeyedList<Item>(count: 300))
    var items = Array(KeyedList<Item>(count: 300))
    items.remove(at: 250)
    items[100].title = "renamed"
    items.insert(Item("new"), at: 50)
    let moved = items.remove(at: 10)
    items.append(moved)
    try reader.follow(KeyedList(items))
    // Here a move is a removal and an addition.
    #expect(reader.operations.count == 5)
    // From here on the subscriber follows the new list by its change log.
    var list = KeyedList(items)
    try reader.follow(list)
    list.move(id: "1", before: nil)
    try reader.follow(list)
    #expect(reader.operations == [.move(from: JSONPointer(["0"]), to: JSONPointer(["299"]))])
  }

  @Test("a list without a common element is replaced as a whole")
  func disjoint() throws {
    var reader = try Follower(KeyedList<Item>(count: 100))
    try reader.follow(KeyedList<Item>(ids: (0..<100).map { "other \($0)" }))
    #expect(reader.operations.count == 1)
  }

  @Test("two copies with different changes are never mistaken for each other")
  func forks() throws {
    let list = KeyedList<Item>(count: 20)
    var left = list
    var right = list
    var reader = try Follower(left)
    left.append(Item("new", "left"))
    right.append(Item("newer", "right"))
    try reader.follow(left)
    try reader.follow(right)
    #expect(reader.operations.count == 1)
    // Equal labels, positions and numbers of changes, but other elements.
    left.move(id: "3", before: nil)
    right.move(id: "4", before: nil)
    try reader.follow(left)
    try reader.follow(list)
    try reader.follow(right)
    var empty = KeyedList<Item>()
    let stillEmpty = empty
    empty.append(Item("1"))
    try reader.follow(empty)
    try reader.follow(stillEmpty)
  }

  @Test("a slow subscriber gets the difference between its old version and the current one")
  func slow() throws {
    for seed in UInt64(1)...20 {
      var random = SeededGenerator(seed: seed)
      var list = KeyedList<Item>(count: 200)
      var reader = try Follower(list)
      for step in 0..<12 {
        let count = [1, 5, 64, 130, 300][random.below(5)]
        var touched = 0
        for _ in 0..<count {
          list.changeOnce(step, &random)
          touched += 1
        }
        try reader.follow(list, "\(random), step \(step)")
        #expect(reader.operations.count <= 2 * touched, "\(random), step \(step)")
      }
    }
  }

  // MARK: Random states

  @Test("a patch leads from any state to any other", arguments: 1...25 as ClosedRange<UInt64>)
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var board = Board()
    board.list = KeyedList(count: random.below(60))
    var reader = try Follower(board)
    var lazy = try Follower(board)
    for step in 0..<150 {
      for _ in 0..<(1 + random.below(3)) { board.change(step, &random) }
      try reader.follow(board, "\(random), step \(step)")
      if step % 7 == 0 { try lazy.follow(board, "\(random), step \(step), slow") }
    }
  }

  @Test("a list is compared incrementally as whole state, array element and dictionary value")
  func places() throws {
    var list = KeyedList<Item>(count: 30)
    var asElement = try Follower([[list], [list]])
    var asValue = try Follower(["a~/b": list])
    var nested = try Follower(KeyedList([Nested(id: "1", items: list)]))
    var outer = KeyedList([Nested(id: "1", items: list)])
    nested = try Follower(outer)
    list.update(id: "3") { $0.title = "x" }
    try asElement.follow([[list], [list]])
    #expect(asElement.operations.count == 2)
    try asValue.follow(["a~/b": list])
    #expect(asValue.text == #"[{"op":"replace","path":"/a~0~1b/2/title","value":"x"}]"#)
    outer.update(id: "1") { $0.items.update(id: "3") { $0.title = "x" } }
    try nested.follow(outer)
    #expect(nested.text == #"[{"op":"replace","path":"/0/items/2/title","value":"x"}]"#)
  }

  @Test("an element that cannot be encoded is shown as null")
  func notEncodable() throws {
    var list = KeyedList<Item>(count: 3)
    var reader = try Follower(list)
    list.update(id: "2") { $0.weight = .nan }
    try reader.follow(list)
    #expect(reader.text == #"[{"op":"replace","path":"/1","value":null}]"#)
    // From one value that cannot be encoded to another: the document does not change.
    list.update(id: "2") { $0.weight = .infinity }
    try reader.follow(list)
    #expect(reader.text == "[]")
    list.update(id: "2") { $0.weight = 1 }
    try reader.follow(list)
    #expect(reader.operations.count == 1)
    list.append(Item("4", weight: .nan))
    list.move(id: "4", before: "1")
    try reader.follow(list)
    try reader.follow(KeyedList(Array(list)))
    #expect(reader.text == "[]")
  }

  // MARK: Cost

  @Test("of 100,000 elements only the changed one is encoded")
  func encodings() throws {
    let encoded = Tally()
    var list = KeyedList((0..<100_000).map { Counted(id: "\($0)", title: "", encoded: encoded) })
    var held = try JSONEncodedState(list)
    func count(_ change: (inout KeyedList<Counted>) -> Void) throws -> Int {
      change(&list)
      let before = encoded.count
      var patch = JSONPatchWriter()
      held.advance(to: try JSONEncodedState(list), writing: &patch)
      let isEmpty = patch.isEmpty
      #expect(!isEmpty)
      return encoded.count - before
    }
    // The old element and the new one.
    #expect(try count { $0.update(id: "50000") { $0.title = "x" } } == 2)
    #expect(try count { $0.append(Counted(id: "new", title: "", encoded: encoded)) } == 1)
    #expect(try count { $0.remove(id: "50001") } == 0)
    #expect(try count { $0.move(id: "50002", before: "1") } == 0)
    // Several changes are also compared as a whole, to detect whether they cancel each other. The
    // comparison ends at the first difference.
    #expect(
      try count {
        $0.update(id: "7") { $0.title = "x" }
        $0.update(id: "70000") { $0.title = "x" }
      } == 6)
    // A copy is changed and assigned back.
    #expect(
      try count {
        var copy = $0
        copy.update(id: "8") { $0.title = "x" }
        $0 = copy
      } == 2)
  }

  @Test("a list with a subscriber is changed in place")
  func inPlace() throws {
    var list = KeyedList<Item>(count: 10_000)
    var reader = try Follower(list)
    let before = list.shape
    for _ in 0..<100 {
      list.update(id: "5000") { $0.title += "x" }
      list.append(Item("new"))
      list.move(id: "new", before: "1")
      list.remove(id: "new")
    }
    try reader.follow(list)
    list.update(id: "5000") { $0.title = "y" }
    // Except the paths of changes that were made while the subscriber had an old version.
    #expect(list.shape.nodesNot(in: before) < 16)
    let after = list.shape
    try reader.follow(list)
    list.update(id: "5000") { $0.title = "z" }
    #expect(list.shape.nodesNot(in: after) == 0)
  }
}

// MARK: -

/// An element that contains a list.
private struct Nested: Codable, Identifiable, Sendable {
  let id: String
  var items: KeyedList<Item>
}

/// An element that counts how often it is encoded.
private struct Counted: Encodable, Identifiable, Sendable {
  let id: String
  var title: String
  let encoded: Tally

  private enum CodingKeys: CodingKey { case id, title }

  func encode(to encoder: any Encoder) throws {
    encoded.add()
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(title, forKey: .title)
  }
}
