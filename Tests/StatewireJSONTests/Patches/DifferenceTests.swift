// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireJSON
import TestSupport
import Testing

@Suite("Difference")
struct DifferenceTests {
  @Test(
    "the difference contains only what changed",
    arguments: [
      ("1", "1", "[]"), ("1", "1.0", "[]"), (#""\u0061""#, #""a""#, "[]"), ("{}", "{ }", "[]"),
      (#"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#, "[]"), ("[1,2]", "[1.0,2]", "[]"),
      ("1", "2", #"[{"op":"replace","path":"","value":2}]"#),
      (#"{"a":1}"#, #"{"a":2}"#, #"[{"op":"replace","path":"/a","value":2}]"#),
      (
        #"{"a":"long enough","x":"to be worth keeping it","b":1}"#,
        #"{"a":"long enough","x":"to be worth keeping it","b":2}"#,
        #"[{"op":"replace","path":"/b","value":2}]"#
      ),
      (
        #"{"a":"long enough","x":"to be worth keeping it","b":1}"#,
        #"{"a":"long enough","x":"to be worth keeping it"}"#, #"[{"op":"remove","path":"/b"}]"#
      ),
      (
        #"{"a":"long enough","x":"to be worth keeping it"}"#,
        #"{"c~/\"":1,"a":"long enough","x":"to be worth keeping it"}"#,
        #"[{"op":"add","path":"/c~0~1\"","value":1}]"#
      ),
      (
        #"["an element","another element","one more of them"]"#,
        #"["an element","one more of them"]"#, #"[{"op":"remove","path":"/1"}]"#
      ),
      (
        #"["an element","one more of them, quite long really"]"#,
        #"["an element",5,"one more of them, quite long really"]"#,
        #"[{"op":"add","path":"/1","value":5}]"#
      ),
      (
        #"[{"id":"a","done":false},{"id":"b","done":false},{"id":"c","done":false}]"#,
        #"[{"id":"a","done":false},{"id":"b","done":true},{"id":"c","done":false}]"#,
        #"[{"op":"replace","path":"/1/done","value":true}]"#
      ),
      // An element is removed at one end while another changes at the other end.
      (
        #"["first of all of them","second of them","third of them","x",{"fourth":1,"of":"them"}]"#,
        #"["second of them","third of them","x",{"fourth":2,"of":"them"}]"#,
        #"[{"op":"remove","path":"/0"},{"op":"replace","path":"/3/fourth","value":2}]"#
      ),
      // Another case of an enum is another value, wherever its member `type` is.
      (
        #"{"s":{"type":"idle","some":"long text here, longer than operations are"}}"#,
        #"{"s":{"type":"busy","some":"long text here, longer than operations are"}}"#,
        #"[{"op":"replace","path":"/s","value":{"type":"busy","some":"long text here, longer than operations are"}}]"#
      ),
      (
        #"{"s":{"some":"long text here, longer than operations are","type":1,"x":1}}"#,
        #"{"s":{"some":"long text here, longer than operations are","type":2,"x":1}}"#,
        #"[{"op":"replace","path":"/s","value":{"some":"long text here, longer than operations are","type":2,"x":1}}]"#
      ),
      (
        #"{"s":{"a":1,"some":"long text here, longer than operations are","type":1}}"#,
        #"{"s":{"type":2,"some":"long text here, longer than operations are","a":1}}"#,
        #"[{"op":"replace","path":"/s","value":{"type":2,"some":"long text here, longer than operations are","a":1}}]"#
      ),
      // A type of another JSON kind is another type.
      (
        #"{"s":{"type":"1","some":"long text here, longer than operations are"}}"#,
        #"{"s":{"type":1,"some":"long text here, longer than operations are"}}"#,
        #"[{"op":"replace","path":"/s","value":{"type":1,"some":"long text here, longer than operations are"}}]"#
      ),
      // A replacement is shorter than single operations.
      (
        #"{"k":[1,2,3,4,5]}"#, #"{"k":[6,7,8,9,0]}"#,
        #"[{"op":"replace","path":"/k","value":[6,7,8,9,0]}]"#
      ),
    ])
  func small(_ old: String, _ new: String, _ expected: String) throws {
    let (old, new) = try (JSONValue(parsing: old), JSONValue(parsing: new))
    let patch = JSONPatch.difference(from: old, to: new)
    #expect(patch.value.description == expected)
    #expect(try patch.apply(to: old) == new)
  }

  @Test("a difference leads from any value to any other")
  func random() throws {
    let pairs = ProcessInfo.processInfo.environment["STATEWIRE_PAIRS"].flatMap(Int.init) ?? 20_000
    var random = SeededGenerator(seed: UInt64(pairs))
    for _ in 0..<pairs {
      let old = RandomJSON.value(&random, depth: 4)
      let new =
        Int.random(in: 0..<4, using: &random) == 0
        ? RandomJSON.value(&random, depth: 4) : RandomJSON.changed(old, &random)
      let patch = JSONPatch.difference(from: old, to: new)
      let result = try patch.apply(to: old)
      #expect(result == new)
      #expect(patch.isEmpty == (old == new))
      if result != new {
        Issue.record("wrong patch from \(old) to \(new): \(patch.value)")
        return
      }
    }
  }

  @Test("a difference is not longer than the replacement of the whole value")
  func length() {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<1_000 {
      let old = RandomJSON.value(&random, depth: 4)
      let new = RandomJSON.changed(old, &random)
      let patch = JSONPatch.difference(from: old, to: new)
      #expect(
        patch.value.bytes.count <= JSONPatch([.replace(JSONPointer([]), new)]).value.bytes.count)
    }
  }

  @Test("the difference of long arrays is found without quadratic cost")
  func longArrays() throws {
    let old = (0..<20_000).map { JSONValue.number(JSONNumber($0)) }
    var new = old
    new.remove(at: 10)
    new.insert("x", at: 15_000)
    new[300] = "y"
    let patch = JSONPatch.difference(from: JSONValue.array(old), to: JSONValue.array(new))
    #expect(patch.operations.count == 3)
    #expect(try patch.apply(to: .array(old)) == .array(new))
    let reversed = JSONValue.array(old.reversed())
    #expect(
      try JSONPatch.difference(from: JSONValue.array(old), to: reversed).apply(to: .array(old))
        == reversed)
  }

  @Test("the difference of objects with many members is found in any order")
  func largeObjects() throws {
    let old = JSONObject((0..<5_000).map { ("k\($0)", .number(JSONNumber($0))) })
    var new = JSONObject((0..<5_000).reversed().map { ("k\($0)", .number(JSONNumber($0))) })
    new["k7"] = nil
    new["k8"] = "changed"
    new["k\n"] = "new"
    let patch = JSONPatch.difference(from: JSONValue.object(old), to: JSONValue.object(new))
    #expect(patch.operations.count == 3)
    #expect(try patch.apply(to: .object(old)) == .object(new))
  }

  @Test("very deep values are replaced from some depth on")
  func deep() throws {
    func nested(_ value: JSONValue, _ depth: Int) -> JSONValue {
      (0..<depth).reduce(value) { value, _ in
        ["a": value, "text": "long enough to be kept as it is"]
      }
    }
    let (old, new) = (nested(1, 1_000), nested(2, 1_000))
    let patch = JSONPatch.difference(from: old, to: new)
    #expect(try patch.apply(to: old, limits: JSONLimits(maximumDepth: 2_000)) == new)
  }
}

/// Random values, and random changes of values.
enum RandomJSON {
  static let keys = ["a", "b", "c", "type", "é", "e\u{301}", "", "/", "~", "a/b~\"c", "\n"]

  static func value(_ random: inout SeededGenerator, depth: Int) -> JSONValue {
    switch Int.random(in: 0..<(depth > 0 ? 10 : 6), using: &random) {
    case 0: return .null
    case 1: return .bool(.random(using: &random))
    case 2: return .number(JSONNumber(Int.random(in: -3...3, using: &random)))
    case 3: return .number(JSONNumber(Double.random(in: -1...1, using: &random)) ?? 0)
    case 4: return .string(keys.randomElement(using: &random) ?? "")
    case 5:
      return .string(String(repeating: "long ", count: Int.random(in: 0..<20, using: &random)))
    case 6, 7:
      let count = Int.random(in: 0..<6, using: &random)
      return .array((0..<count).map { _ in value(&random, depth: depth - 1) })
    default:
      var object = JSONObject()
      for _ in 0..<Int.random(in: 0..<(depth == 4 ? 24 : 6), using: &random) {
        object[key(&random)] = value(&random, depth: depth - 1)
      }
      return .object(object)
    }
  }

  /// Returns the value with a random change, or unchanged.
  static func changed(_ old: JSONValue, _ random: inout SeededGenerator) -> JSONValue {
    switch (old, Int.random(in: 0..<8, using: &random)) {
    case (_, 0):
      return value(&random, depth: 2)
    case (.array(var elements), let choice):
      if choice < 3 {
        elements.insert(
          value(&random, depth: 2), at: Int.random(in: 0...elements.count, using: &random))
      } else if choice < 5, !elements.isEmpty {
        elements.remove(at: Int.random(in: 0..<elements.count, using: &random))
      } else if let index = elements.indices.randomElement(using: &random) {
        elements[index] = changed(elements[index], &random)
      }
      return .array(elements)
    case (.object(var object), let choice):
      if choice < 2 {
        object[key(&random)] = value(&random, depth: 2)
      } else if choice < 4, let key = object.keys.randomElement(using: &random) {
        object[key] = nil
      } else if choice < 5 {
        object = JSONObject(object.map { ($0.key, $0.value) }.shuffled(using: &random))
      } else {
        for key in object.keys where Int.random(in: 0..<3, using: &random) == 0 {
          object[key] = changed(object[key] ?? nil, &random)
        }
      }
      return .object(object)
    default:
      return old
    }
  }

  private static func key(_ random: inout SeededGenerator) -> String {
    let key = keys.randomElement(using: &random) ?? ""
    return Bool.random(using: &random) ? key : key + "\(Int.random(in: 0..<30, using: &random))"
  }
}
