// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import ProcessStores

@Suite("Trees of documents")
struct DocumentValueTests {
  /// A generator of the same numbers in each run.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }

  /// An array and an object of more than one chunk, and small ones within them.
  private let large: JSONValue = [
    "rows": .array((0..<200).map { ["id": .string("\($0)"), "done": false, "tags": ["a", "b"]] }),
    "byID": .object(JSONObject((0..<200).map { ("k\($0)", ["n": .number(JSONNumber($0))]) })),
    "a/b~c": ["é": 1, "e\u{301}": 2],
  ]

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
    let tree = DocumentValue(large)
    #expect(tree.json == large)
    #expect(tree.json.bytes == large.bytes)
    #expect(tree.isSame(as: large))
    var writer = JSONWriter()
    tree.write(to: &writer)
    #expect(writer.bytes() == large.bytes)
    #expect(try (read(large.bytes) as DocumentValue).json.bytes == large.bytes)
    #expect(tree.textBytes == large.bytes.count)
    let duplicates: DocumentValue = try read(Array(#"{"a":1,"b":2,"a":3}"#.utf8))
    #expect(duplicates.json.bytes == Array(#"{"a":3,"b":2}"#.utf8))
  }

  @Test("operations have the effect that RFC 6902 describes", arguments: 0..<5)
  func operations(seed: UInt64) throws {
    var numbers = Numbers(state: seed)
    func any<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &numbers)] }
    func path() -> String {
      let row = Int.random(in: 0...210, using: &numbers)
      return any([
        "/rows/\(row)", "/rows/\(row)", "/rows/-", "/rows/\(row)/tags/0", "/rows/\(row)/done",
        "/rows/0\(row)", "/byID/k\(row)", "/byID/k\(row)/n", "/byID/new\(row % 50)", "/a~1b~0c/é",
        "/a~1b~0c/e\u{301}", "/nowhere/x", "/rows/\(row)/tags/-",
      ])
    }
    var document = Document(DocumentValue(large), bytes: large.bytes.count, version: 1)
    var expected = large
    var applied = 0
    for _ in 0..<150 {
      let value: JSONValue = any([1, "text", ["id": "x", "done": true], [], nil])
      let pointer = try JSONPointer(parsing: path())
      let operation: JSONPatch.Operation = any([
        .add(pointer, value), .add(pointer, value), .remove(pointer), .replace(pointer, value),
        .move(from: pointer, to: try JSONPointer(parsing: path())),
        .copy(from: pointer, to: try JSONPointer(parsing: path())), .test(pointer, value),
      ])
      let before = document.value.json
      let patch = JSONPatch([operation])
      let wanted = Result { try patch.apply(to: expected) }
      let new = Result { try document.applying(patch) }
      #expect((try? new.get())?.value.json == (try? wanted.get()), "\(operation)")
      #expect(document.value.json == before)
      guard let next = try? new.get() else { continue }
      (document, expected, applied) = (next, try wanted.get(), applied + 1)
    }
    #expect(applied > 30)
    let bytes = document.value.json.bytes
    #expect(document.value.json == expected)
    // A comma more or less for containers that have been empty.
    #expect(abs(document.textBytes - bytes.count) < 100)
  }

  @Test("operations on the whole document replace it")
  func root() throws {
    let root = JSONPointer([])
    let document = Document(DocumentValue(large), bytes: large.bytes.count, version: 1)
    for operation: JSONPatch.Operation in [
      .add(root, 1), .replace(root, [1]), .remove(root),
      .copy(from: JSONPointer(["rows", "3"]), to: root),
      .move(from: JSONPointer(["byID", "k7"]), to: root),
    ] {
      let new = try document.applying(JSONPatch([operation]))
      #expect(try new.value.json == JSONPatch([operation]).apply(to: large))
      #expect(abs(new.textBytes - new.value.json.bytes.count) <= 4)
    }
    #expect(try document.applying(JSONPatch([.test(root, large)])).version == document.version)
  }

  @Test("a failing operation has an error with its reason")
  func faults() throws {
    let document = Document(DocumentValue(large), bytes: 0, version: 1)
    func message(_ text: String) throws -> String? {
      let patch: JSONPatch = try read(Array(text.utf8))
      let error = #expect(throws: JSONError.self) { try document.applying(patch) }
      return error?.message
    }
    #expect(
      try message(#"[{"op":"remove","path":"/rows/200"}]"#)
        == #"operation 0: there is no value at "/rows/200""#)
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

  @Test("members keep their order, and many are found by their keys")
  func members() {
    var members = DocumentMembers([])
    var expected = JSONObject()
    var numbers = Numbers(state: 7)
    for step in 0..<3_000 {
      let key = "key\(Int.random(in: 0..<150, using: &numbers))"
      if step % 3 == 2 {
        let removed = members.remove(key)?.json
        #expect(removed == expected.removeValue(forKey: key))
      } else {
        let old = members.set(key, to: .scalar(.number(JSONNumber(step))))?.json
        #expect(old == expected[key])
        expected[key] = .number(JSONNumber(step))
      }
      #expect(members[key]?.json == expected[key])
    }
    #expect(members.count == expected.count)
    #expect(DocumentValue.object(members).json.bytes == JSONValue.object(expected).bytes)
  }

  @Test("a change of a long array copies one chunk", arguments: [1, 5_000, 9_999])
  func sharing(position: Int) throws {
    let rows: JSONValue = .array((0..<10_000).map { ["id": .number(JSONNumber($0))] })
    let document = Document(DocumentValue(["rows": rows]), bytes: 0, version: 1)
    func addresses(_ document: Document) throws -> [UnsafePointer<DocumentValue>] {
      guard case .array(let rows)? = document.value[["rows"]] else { return [] }
      return try rows.chunks.map { try #require($0.withUnsafeBufferPointer(\.baseAddress)) }
    }
    let path = JSONPointer(["rows", "\(position)", "id"])
    let patch = JSONPatch([.replace(path, "a"), .replace(path, "b"), .replace(path, "c")])
    let new = try document.applying(patch)
    let (before, after) = (try addresses(document), try addresses(new))
    #expect(before.count == after.count && before.count > 300)
    #expect(zip(before, after).filter { $0 != $1 }.count == 1)
  }

  @Test("chunks are the same sequence as an array")
  func chunks() {
    var (chunks, expected) = (Chunks<Int>(), [Int]())
    var numbers = Numbers(state: 3)
    for step in 0..<6_000 {
      // Grows, and then shrinks to nothing.
      if Int.random(in: 0..<6_000, using: &numbers) > step || expected.isEmpty {
        let position = any([0, expected.count, Int.random(in: 0...expected.count, using: &numbers)])
        chunks.insert(step, at: position)
        expected.insert(step, at: position)
      } else {
        let position = Int.random(in: 0..<expected.count, using: &numbers)
        #expect(chunks.remove(at: chunks.place(of: position)) == expected.remove(at: position))
      }
      #expect(chunks.count == expected.count)
      guard let position = expected.indices.randomElement(using: &numbers) else { continue }
      #expect(chunks[chunks.place(of: position)] == expected[position])
      if step % 500 == 0 { #expect(Array(chunks) == expected) }
    }
    func any<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &numbers)] }
    while let last = expected.popLast() {
      #expect(chunks.remove(at: chunks.place(of: expected.count)) == last)
    }
    #expect(Array(chunks).isEmpty)
  }
}
