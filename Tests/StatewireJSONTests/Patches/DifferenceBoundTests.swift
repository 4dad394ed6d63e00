// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

/// Tests of values whose differences would be much longer than the new value. The length of a patch
/// must be at most twice that length.
@Suite("Bound of a difference")
struct DifferenceBoundTests {
  @Test(
    "the patch for many changes below a long key is short", arguments: ["a", "~", "\u{1}", "é"])
  func longKeys(character: String) {
    let key = String(repeating: character, count: 20_000)
    func value(_ leaf: Int) -> JSONValue {
      .object([key: .array(Array(repeating: .number(JSONNumber(leaf)), count: 5_000))])
    }
    expectShort(from: value(0), to: value(1))
    func below(_ leaf: Int) -> JSONValue {
      .object([
        "unchanged": .string(String(repeating: "x", count: 100_000)), "changed": value(leaf),
      ])
    }
    let patch = expectShort(from: below(0), to: below(1))
    #expect(patch.operations.count == 1, "the unchanged part must not be in the patch")
    #expect(patch.value.bytes.count < 140_000)
  }

  @Test(
    "the patch for changes at each level of a chain of keys is short", arguments: [10, 50, 100])
  func chains(depth: Int) {
    func value(_ leaf: Int) -> JSONValue {
      (0..<depth).reduce(.string(String(repeating: "x", count: 10_000) + "\(leaf)")) { inner, _ in
        .object(["a key": inner, "b": .number(JSONNumber(leaf)), "c": .number(JSONNumber(leaf))])
      }
    }
    expectShort(from: value(0), to: value(1))
  }

  @Test("the patch for an object whose keys have all been replaced is short")
  func keys() {
    func value(_ start: Int) -> JSONValue {
      let members = (start..<start + 3_000).map { ("\($0)", JSONValue.bool(true)) }
      return .object(["in": .object(JSONObject(members))])
    }
    expectShort(from: value(0), to: value(3_000))
    expectShort(from: value(0), to: value(1_500))
    expectShort(from: value(0), to: .object(["in": .object([:])]))
  }

  @Test("the patch for a shifted periodic array is short")
  func shifted() {
    func value(_ shift: Int, _ count: Int) -> JSONValue {
      .array((0..<count).map { .number(JSONNumber(($0 + shift) % 2)) })
    }
    expectShort(from: value(0, 2_000), to: value(1, 2_001))
    expectShort(from: value(0, 2_000), to: value(1, 1_000))
  }

  @Test(
    "a change below many levels is found although each level is read repeatedly",
    arguments: [1, 8, 100])
  func deep(depth: Int) {
    func value(_ leaf: Int) -> JSONValue {
      let rows = (0..<1_000).map { row -> JSONValue in
        [#"name "\""#: .number(JSONNumber(row == 500 ? leaf : 0)), "in": ["{", ["]"], [:]]]
      }
      return (0..<depth).reduce(.array(rows)) { inner, _ in ["[{": inner, "b": "}]"] }
    }
    let patch = expectShort(from: value(0), to: value(1))
    #expect(patch.operations.count == 1)
    #expect(patch.value.bytes.count < 60 + 4 * depth)
  }

  @Test("objects whose members are reordered at each level are equal", arguments: [2, 6, 9])
  func reordered(depth: Int) {
    func value(_ depth: Int, _ isReversed: Bool) -> JSONValue {
      var members: [(String, JSONValue)] = [("x", 1), ("y", "two"), ("z", [3])]
      if depth > 0 {
        members += ["a", "b"].map { ($0, value(depth - 1, isReversed)) }
      }
      return .object(JSONObject(isReversed ? members.reversed() : members))
    }
    let patch = expectShort(from: value(depth, false), to: value(depth, true))
    #expect(patch.isEmpty)
  }

  /// Checks that the patch leads from one value to another and is at most twice as long as the new
  /// value.
  @discardableResult
  private func expectShort(
    from old: JSONValue, to new: JSONValue, location: SourceLocation = #_sourceLocation
  ) -> JSONPatch {
    let patch = JSONPatch.difference(from: old, to: new)
    let length = patch.value.bytes.count
    #expect(length <= 2 * new.bytes.count + 40, "\(length)", sourceLocation: location)
    #expect((try? patch.apply(to: old)) == new, sourceLocation: location)
    return patch
  }
}
