// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

/// Tests with randomly damaged input: the result must be a value or a `JSONError`, never a crash.
@Suite("Damaged and hostile input")
struct HostileTests {
  @Test("every reader accepts or refuses a damaged text in the same way, without a crash")
  func damage() throws {
    let texts = try [
      JSON.encode(
        TaggingTests.Input.batch(inputs: [
          .todoAdded(title: "é\n𝄞", note: "x"), .moved(id: "a", before: nil),
          .nested(inner: .point(x: 1, y: -2), others: [.label(type: "t", _type: 3)]),
          .table(rows: ["a": .nothing], maybe: nil),
        ])),
      JSON.encode(CodableTests.Numbers()),
      Array(
        #"[{"op":"copy","from":"/a/0","path":"/b~1c"},{"op":"test","path":"","value":1e5}]"#.utf8),
    ]
    let pieces = Array("{}[]:,\"\\eE-0n".utf8)
    var random = SeededGenerator(seed: 11)
    for round in 0..<12_000 {
      var bytes = texts[round % texts.count]
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let at = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[at] = .random(in: 0...255, using: &random)
        case 1: bytes.remove(at: at)
        case 2: bytes.insert(pieces.randomElement(using: &random) ?? 0, at: at)
        default: bytes.removeSubrange(at...)
        }
        if bytes.isEmpty { bytes = [0x30] }
      }
      let value = try? JSONValue(parsing: bytes)
      #expect((value != nil) == ((try? skip(bytes)) != nil))
      try expectJSONError(TaggingTests.Input.self, bytes)
      try expectJSONError(CodableTests.Numbers.self, bytes)
      try expectJSONError(CodableTests.Absent.self, bytes)
      try expectJSONError([[String: Int?]].self, bytes)
      try expectJSONError(JSONPatch.self, bytes)
    }
  }

  /// Checks that a text is decoded, and then is valid JSON, or fails with a `JSONError`.
  private func expectJSONError<T: Decodable>(_ type: T.Type, _ bytes: [UInt8]) throws {
    do {
      _ = try JSON.decode(type, from: bytes)
    } catch {
      #expect(!error.description.isEmpty)
      return
    }
    try skip(bytes)
  }

  @Test("random patch operations apply or are refused")
  func patches() {
    var random = SeededGenerator(seed: 12)
    func pointer() -> JSONPointer {
      let tokens = ["a", "b", "type", "0", "1", "-", "", "01"]
      return JSONPointer(
        (0..<Int.random(in: 0..<4, using: &random)).map { _ in
          tokens.randomElement(using: &random) ?? ""
        })
    }
    for _ in 0..<5_000 {
      let document = RandomJSON.value(&random, depth: 3)
      var operations: [JSONPatch.Operation] = []
      for _ in 0..<6 {
        let value = RandomJSON.value(&random, depth: 1)
        let operation: JSONPatch.Operation =
          switch Int.random(in: 0..<6, using: &random) {
          case 0: .add(pointer(), value)
          case 1: .remove(pointer())
          case 2: .replace(pointer(), value)
          case 3: .move(from: pointer(), to: pointer())
          case 4: .copy(from: pointer(), to: pointer())
          default: .test(pointer(), value)
          }
        operations.append(operation)
      }
      // A patch must apply exactly if each of its operations applies to the result of the previous
      // ones.
      var stepwise: JSONValue? = document
      for operation in operations {
        stepwise = stepwise.flatMap { try? JSONPatch([operation]).apply(to: $0) }
      }
      #expect((try? JSONPatch(operations).apply(to: document)) == stepwise)
    }
  }

  @Test("recursive types are decoded only to the maximum depth")
  func recursion() {
    struct Tree: Codable { var children: [Tree] }
    struct Nest: Codable {
      var inner: [Nest]
      init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        inner = []
        while !container.isAtEnd { inner.append(try container.decode(Nest.self)) }
      }
    }
    let trees = Array(String(repeating: #"{"children":["#, count: 100_000).utf8)
    let nests = Array(String(repeating: "[", count: 100_000).utf8)
    for error in [
      #expect(throws: JSONError.self) { try JSON.decode(Tree.self, from: trees) },
      #expect(throws: JSONError.self) { try JSON.decode(Nest.self, from: nests) },
      #expect(throws: JSONError.self) { try JSON.decode(JSONValue.self, from: nests) },
    ] {
      #expect(error?.code == .depth)
    }
  }
}
