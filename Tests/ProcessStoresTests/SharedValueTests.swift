// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import ProcessStores

@Suite("Shared parts of values")
struct SharedValueTests {
  /// A generator of the same numbers in each run.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }

    mutating func any<T>(_ values: [T]) -> T {
      values[Int.random(in: 0..<values.count, using: &self)]
    }
  }

  /// An array and an object of more than one node, and small ones within them.
  private let large: JSONValue = [
    "rows": .array((0..<100).map { ["id": .string("\($0)"), "done": false, "tags": ["a", "b"]] }),
    "byID": .object(JSONObject((0..<100).map { ("k\($0)", ["n": .number(JSONNumber($0))]) })),
    "a/b~c": ["é": 1.5, "e\u{301}": "two\n\"lines\""],
  ]

  private func versioned(_ value: JSONValue) -> VersionedValue {
    VersionedValue(SharedValue(value))
  }

  private func read<T: JSONReadable>(_ text: [UInt8]) throws -> T {
    try text.withUnsafeBytes { bytes in
      var reader = JSONReader(bytes)
      let value = try reader.read(T.self)
      try reader.finish()
      return value
    }
  }

  @Test("a tree is the same data as its value, also when it is read from text")
  func reading() throws {
    let tree = SharedValue(large)
    #expect(tree.json.bytes == large.bytes)
    #expect(tree.isSame(as: large))
    var writer = JSONWriter()
    tree.write(to: &writer)
    #expect(writer.bytes() == large.bytes)
    #expect(try (read(large.bytes) as SharedValue).json.bytes == large.bytes)
    #expect(tree.textBytes == large.bytes.count)
    let duplicates: SharedValue = try read(Array(#"{"a":1,"b":2,"a":3}"#.utf8))
    #expect(duplicates.json.bytes == Array(#"{"a":3,"b":2}"#.utf8))
  }

  /// Returns a tree of a value that is divided on the way to each of the paths.
  private func divided(_ value: JSONValue, at paths: [[String]]) throws -> SharedValue {
    var tree = SharedValue(value)
    for path in paths {
      let old = tree.replace(at: path, with: SharedValue("another"))
      _ = tree.replace(at: path, with: try #require(old))
    }
    return tree
  }

  private static let places = [["rows", "70", "done"], ["byID", "k70", "n"], ["a/b~c", "é"]]

  @Test("trees are the same if their data is, whatever they share", arguments: [true, false])
  func sameness(isDivided: Bool) throws {
    let tree = try divided(large, at: isDivided ? Self.places : [])
    var changed = tree
    #expect(changed.isSame(as: tree))
    for path in Self.places {
      let old = changed.replace(at: path, with: SharedValue(.null))
      #expect(!changed.isSame(as: tree) && !tree.isSame(as: changed), "\(path)")
      _ = changed.replace(at: path, with: try #require(old))
      #expect(changed.isSame(as: tree) && tree.isSame(as: changed), "\(path)")
    }
    // Nodes with other limits, and members in another order.
    for _ in 0..<40 {
      let last = changed.remove(at: ["rows", "99"])
      _ = changed.add(try #require(last).value, at: ["rows", "0"])
    }
    for _ in 0..<40 {
      let first = changed.remove(at: ["rows", "0"])
      #expect(!changed.isSame(as: tree))
      _ = changed.add(try #require(first).value, at: ["rows", "-"])
    }
    let member = changed.remove(at: ["byID", "k0"])
    #expect(!changed.isSame(as: tree) && !tree.isSame(as: changed))
    _ = changed.add(try #require(member).value, at: ["byID", "k0"])
    #expect(changed.isSame(as: tree) && tree.isSame(as: changed))
    #expect(try tree.isSame(as: read(large.bytes) as SharedValue))
    let other = try divided(large, at: Self.places)
    #expect(other.isSame(as: changed) && changed.isSame(as: other))
  }

  @Test("objects are the same in any order and with other numbers of buckets")
  func sameMembers() throws {
    func members(_ numbers: some Sequence<Int>) -> SharedMembers {
      SharedMembers(JSONObject(numbers.map { ("k\($0)", .number(JSONNumber($0))) }))
    }
    let (one, reversed) = (members(0..<200), members((0..<200).reversed()))
    var few = one
    for number in 20..<200 { _ = few.remove("k\(number)") }
    let fewAlone = members(0..<20)
    #expect(one.isSame(as: reversed) && few.isSame(as: fewAlone) && fewAlone.isSame(as: few))
    for key in ["k0", "k19"] {
      var changed = few
      _ = changed.set(key, to: SharedValue(nil))
      #expect(!changed.isSame(as: few) && !changed.isSame(as: fewAlone))
      #expect(!few.isSame(as: changed) && !fewAlone.isSame(as: changed))
      _ = changed.remove(key)
      _ = changed.set("new", to: SharedValue(nil))
      #expect(!changed.isSame(as: few) && !few.isSame(as: changed))
    }
  }

  /// Applies operations to a value, and follows as a client that knows it.
  private func check(_ value: JSONValue, _ operations: [JSONPatch.Operation]) throws {
    let held = versioned(value)
    guard let wanted = try? JSONPatch(operations).apply(to: value) else {
      #expect(throws: JSONError.self, "\(operations)") {
        try held.applying(JSONPatch(operations))
      }
      return
    }
    let new = try held.applying(JSONPatch(operations))
    #expect(new.value.json == wanted && new.textBytes == wanted.bytes.count, "\(operations)")
    #expect((new.version == held.version) == (wanted == value), "\(operations)")
    var client = held
    var patch = JSONPatchWriter()
    let hasAdvanced = client.advance(to: new, writing: &patch)
    let written = try JSONPatch(parsing: patch.bytes())
    #expect(try hasAdvanced && written.apply(to: value) == wanted, "\(operations)")
    #expect(written.isEmpty == (wanted == value), "\(operations)")
  }

  // A move from a root array to the root ended the server.
  @Test(
    "each operation on each place has the same effect for the server and for clients",
    arguments: [
      [1, [2, 2], ["a": 4, "b": [5]], [2, 2]], [[1], [1]], [],
      ["a": [1, 2], "b": nil, "": ["": 3]],
      nil, "text",
    ] as [JSONValue])
  func places(value: JSONValue) throws {
    let paths = try [
      "", "/", "/-", "/0", "/1", "/3", "/9", "/01", "/1/0", "/1/1", "/1/-", "/2/a", "/2/b/0", "/a",
      "/a/0", "/a/1", "/a/2", "/b", "//", "/x", "/x/y",
    ].map { try JSONPointer(parsing: $0) }
    for path in paths {
      for other: JSONValue in [nil, 1, [2, 2], ["a": 1]] {
        try check(value, [.add(path, other)])
        try check(value, [.replace(path, other)])
        try check(value, [.test(path, other)])
        try check(value, [.replace(path, 0), .replace(path, other)])
      }
      try check(value, [.remove(path)])
      try check(value, [.remove(path), .remove(path)])
      for from in paths {
        try check(value, [.move(from: from, to: path)])
        try check(value, [.copy(from: from, to: path)])
        try check(value, [.move(from: from, to: path), .move(from: path, to: from)])
        try check(value, [.copy(from: from, to: path), .remove(path)])
      }
    }
  }

  // A whole array was divided again by each of them: a thousand times the cost of the patch.
  @Test("a patch that changes nothing leaves the value divided, and is not a change")
  func unchanging() throws {
    let held = versioned(large)
    let path = JSONPointer(["rows", "5", "done"])
    let new = try held.applying(JSONPatch([.replace(path, false)]))
    guard case .object(let members) = new.value, case .array? = members["rows"] else {
      Issue.record("the value is whole: \(new.value)")
      return
    }
    #expect(new.isSame(as: held) && new.version == held.version)
    var client = held
    var patch = JSONPatchWriter()
    let hasAdvanced = client.advance(to: new, writing: &patch)
    let isEmpty = patch.isEmpty
    #expect(hasAdvanced && isEmpty)
    let next = try new.applying(JSONPatch([.replace(path, true)]))
    let follows = client.advance(to: next, writing: &patch)
    #expect(follows && patch.count == 1)
  }

  @Test("patches have the effect that RFC 6902 describes, and clients follow", arguments: 0..<5)
  func patches(seed: UInt64) throws {
    var numbers = Numbers(state: seed)
    func pointer() throws -> JSONPointer {
      let row = Int.random(in: 0...105, using: &numbers)
      return try JSONPointer(
        parsing: numbers.any([
          "/rows/\(row)", "/rows/\(row)", "/rows/-", "/rows/\(row)/tags/0", "/rows/\(row)/done",
          "/rows/0\(row)", "/byID/k\(row)", "/byID/k\(row)/n", "/byID/new\(row % 50)", "/a~1b~0c/é",
          "/a~1b~0c/e\u{301}", "/nowhere/x", "/rows/\(row)/tags/-", "/rows/\(row)/tags/0",
        ]))
    }
    func operation() throws -> JSONPatch.Operation {
      let path = try pointer()
      let value: JSONValue = numbers.any([1, 1.0, "te\txt", ["id": "x", "done": true], [], nil])
      return numbers.any([
        .add(path, value), .add(path, value), .remove(path), .replace(path, value),
        .move(from: path, to: try pointer()), .copy(from: path, to: try pointer()),
        .test(path, value),
      ])
    }
    var held = versioned(large)
    // The state of a client.
    var followed = large
    var applied = 0
    for _ in 0..<150 {
      // The operations that can be applied, and in a tenth of the cases one that cannot.
      var (operations, wanted) = ([JSONPatch.Operation](), held.value.json)
      for _ in 0..<numbers.any([1, 2, 8]) {
        let next = try operation()
        if let result = try? JSONPatch([next]).apply(to: wanted) {
          operations.append(next)
          wanted = result
        } else if numbers.any(Array(0..<10)) == 0 {
          #expect(throws: JSONError.self) { try held.applying(JSONPatch(operations + [next])) }
        }
      }
      let before = held.value.json.bytes
      let new = try held.applying(JSONPatch(operations))
      #expect(held.value.json.bytes == before)
      #expect(new.value.json == wanted)
      #expect(new.textBytes == new.value.json.bytes.count)
      var client = held
      var patch = JSONPatchWriter()
      let hasAdvanced = client.advance(to: new, writing: &patch)
      #expect(hasAdvanced)
      let change: JSONPatch = try read(patch.bytes())
      followed = try change.apply(to: followed)
      #expect(followed == wanted)
      applied += operations.count
      held = new
    }
    #expect(applied > 100)
  }

  @Test("operations on the whole value replace it")
  func root() throws {
    let root = JSONPointer([])
    let old = versioned(large)
    for operation: JSONPatch.Operation in [
      .add(root, 1), .replace(root, [1]), .remove(root),
      .copy(from: JSONPointer(["rows", "3"]), to: root),
      .move(from: JSONPointer(["byID", "k7"]), to: root),
    ] {
      let new = try old.applying(JSONPatch([operation]))
      #expect(try new.value.json == JSONPatch([operation]).apply(to: large))
      #expect(new.textBytes == new.value.json.bytes.count)
    }
    #expect(try old.applying(JSONPatch([.test(root, large)])).version == old.version)
  }

  @Test("a failing operation has an error with its reason")
  func faults() throws {
    let old = versioned(large)
    func message(_ text: String) throws -> String? {
      let patch: JSONPatch = try read(Array(text.utf8))
      let error = #expect(throws: JSONError.self) { try old.applying(patch) }
      return error?.message
    }
    #expect(
      try message(#"[{"op":"remove","path":"/rows/100"}]"#)
        == #"operation 0: there is no value at "/rows/100""#)
    #expect(
      try message(#"[{"op":"test","path":"/a~1b~0c/é","value":2}]"#)
        == "operation 0: the test failed")
    #expect(
      try message(#"[{"op":"move","from":"/rows","path":"/rows/1/x"}]"#)
        == "operation 0: a value cannot be moved into itself")
    let deep = String(repeating: "[", count: 125) + String(repeating: "]", count: 125)
    #expect(
      try message(#"[{"op":"add","path":"/rows/0/tags/0","value":\#(deep)}]"#).map {
        $0.contains("nests deeper than 128")
      } == true)
    let long = #"{"op":"add","path":"/c","value":"\#(String(repeating: "x", count: 300_000))"}"#
    let copies = (1...4).map { #"{"op":"copy","from":"/c","path":"/c\#($0)"}"# }
    #expect(
      try message("[\(([long] + copies).joined(separator: ","))]")
        == "operation 4: the copies have more than 1048576 bytes")
  }

  @Test("moves of much data reach clients as the difference")
  func longMoves() throws {
    let text = JSONValue.string(String(repeating: "x", count: 300_000))
    let old = versioned(["a": text, "n": 0])
    let there = JSONPatch.Operation.move(from: JSONPointer(["a"]), to: JSONPointer(["b"]))
    let back = JSONPatch.Operation.move(from: JSONPointer(["b"]), to: JSONPointer(["a"]))
    let count = JSONPatch.Operation.replace(JSONPointer(["n"]), 1)
    let new = try old.applying(JSONPatch([there, back, there, count, back]))
    #expect(new.value.isSame(as: ["a": text, "n": 1]))
    var client = old
    var patch = JSONPatchWriter()
    let hasAdvanced = client.advance(to: new, writing: &patch)
    #expect(hasAdvanced)
    #expect(patch.count == 1)
  }

  @Test("members keep their order, and many are found by their keys")
  func members() {
    var members = SharedMembers([:])
    var expected = JSONObject()
    var numbers = Numbers(state: 7)
    for step in 0..<3_000 {
      let key = "key\(Int.random(in: 0..<300, using: &numbers))"
      if step % 4 == 3 {
        let removed = members.remove(key)?.json
        #expect(removed == expected.removeValue(forKey: key))
      } else {
        let old = members.set(key, to: SharedValue(.number(JSONNumber(step))))?.json
        #expect(old == expected[key])
        expected[key] = .number(JSONNumber(step))
      }
      #expect(members[key]?.json == expected[key])
    }
    #expect(members.count == expected.count && members.count > 100)
    #expect(SharedValue.object(members).json.bytes == JSONValue.object(expected).bytes)
  }

  // Each move counted the bytes of its value, so few bytes of a patch took minutes.
  @Test("the moves of a patch have a bounded length")
  func moves() throws {
    let text: JSONValue = .string(String(repeating: "a", count: 10 << 20))
    let held = versioned(["a": text, "list": [text, 1]])
    func moves(_ from: [String], _ to: [String], _ count: Int) -> JSONPatch {
      let (one, other) = (JSONPointer(from), JSONPointer(to))
      return JSONPatch(
        (0..<count).map { .move(from: $0 % 2 == 0 ? one : other, to: $0 % 2 == 0 ? other : one) })
    }
    for (from, to) in [(["a"], ["b"]), (["list", "0"], ["list", "1"])] {
      let moved = try held.applying(moves(from, to, 6))
      #expect(moved.isSame(as: held))
      #expect(throws: JSONError.self) { try held.applying(moves(from, to, 8)) }
    }
  }

  // All of them had one hash, so they were in one bucket, which each change copied.
  @Test("keys that are canonically equivalent are spread over the buckets")
  func equivalentKeys() {
    let keys = (0..<4_096).map { number in
      String((0..<12).map { Character(number >> $0 & 1 == 1 ? "\u{E9}" : "e\u{301}") })
    }
    let members = SharedMembers(JSONObject(keys.map { ($0, nil) }))
    #expect(members.count == 4_096 && members.buckets.allSatisfy { $0.count < 200 })
  }

  @Test("a change of a long array copies one short part of it", arguments: [1, 5_000, 9_999])
  func sharing(position: Int) throws {
    let rows: JSONValue = .array((0..<10_000).map { ["id": .number(JSONNumber($0))] })
    // The first change divides the array.
    let first = JSONPatch([.replace(JSONPointer(["rows", "0", "id"]), "z")])
    let old = try versioned(["rows": rows]).applying(first)
    func addresses(_ versioned: VersionedValue) throws -> [UnsafePointer<SharedValue>] {
      guard case .array(let rows)? = versioned.value[["rows"]] else { return [] }
      return try rows.leaves.map { try #require($0.withUnsafeBufferPointer(\.baseAddress)) }
    }
    let path = JSONPointer(["rows", "\(position)", "id"])
    let patch = JSONPatch([.replace(path, "a"), .replace(path, "b"), .replace(path, "c")])
    let new = try old.applying(patch)
    let (before, after) = (try addresses(old), try addresses(new))
    #expect(before.count == after.count && before.count > 100)
    #expect(zip(before, after).filter { $0 != $1 }.count == 1)
  }

  @Test("a tree of elements is the same sequence as an array", arguments: [0, 20, 4_000, 20_000])
  func elements(count: Int) {
    var expected = Array(0..<count)
    var tree = ElementTree(expected)
    var numbers = Numbers(state: 3)
    func check() {
      #expect(tree.count == expected.count && Array(tree) == expected)
      // Nodes with other limits.
      let other = ElementTree(expected)
      #expect(tree.isSame(as: other, by: ==) && other.isSame(as: tree, by: ==))
    }
    for step in 0..<6_000 {
      // Grows, and then shrinks.
      if Int.random(in: 0..<6_000, using: &numbers) > step || expected.isEmpty {
        let position = numbers.any([
          0, expected.count, Int.random(in: 0...expected.count, using: &numbers),
        ])
        tree.insert(step, at: position)
        expected.insert(step, at: position)
      } else {
        let position = Int.random(in: 0..<expected.count, using: &numbers)
        #expect(tree.remove(at: position) == expected.remove(at: position))
      }
      #expect(tree.count == expected.count)
      guard let position = expected.indices.randomElement(using: &numbers) else { continue }
      #expect(tree[position] == expected[position])
      if step % 1_000 == 0 { check() }
      let before = tree
      let old = tree.update(at: position) { element in
        defer { element = -step }
        return element
      }
      #expect(old == expected[position] && before[position] == old)
      #expect(tree.isSame(as: before, by: ==) == (old == -step))
      expected[position] = -step
    }
    check()
    while let last = expected.popLast() {
      #expect(tree.remove(at: expected.count) == last)
    }
    #expect(Array(tree).isEmpty && tree.leaves == [[]])
    for element in 0..<1_000 {
      tree.insert(element, at: tree.count)
      expected.append(element)
    }
    check()
  }

  @Test("removing most elements leaves few nodes")
  func joining() {
    var tree = ElementTree(0..<3_200)
    // From the front, one of each 32 stays.
    for kept in 0..<100 {
      for _ in 0..<31 { _ = tree.remove(at: kept) }
    }
    #expect(Array(tree) == (0..<100).map { $0 * 32 + 31 })
    #expect(tree.leaves.count <= 30 && tree.height > 1)
    while tree.count > 3 { _ = tree.remove(at: 1) }
    #expect(Array(tree) == [31, 3_167, 3_199] && tree.height == 1)
  }
}
