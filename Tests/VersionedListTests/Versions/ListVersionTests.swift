// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@testable import VersionedList

/// Tests of list versions. A version is a reference, not a copy: its elements are those of the list
/// with the latest changes undone.
@Suite("List version")
struct ListVersionTests {
  @Test(
    "a version does not change with its list", arguments: 1...40 as ClosedRange<UInt64>)
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var lists = [KeyedList<Item>(count: random.below(150))]
    var helds: [(state: JSONEncodedState, text: [UInt8])] = []
    for step in 0..<400 {
      let chosen = random.below(lists.count)
      switch random.below(12) {
      case 0 where lists.count < 4:
        lists.append(lists[chosen])
      case 1 where lists.count > 1:
        lists.remove(at: chosen)
      case 2:
        // More changes than the change log keeps.
        for _ in 0..<(50 + random.below(100)) { lists[chosen].changeOnce(step, &random) }
      case 3 where helds.count < 8:
        helds.append((try JSONEncodedState(lists[chosen]), try JSON.encode(lists[chosen])))
      case 4 where !helds.isEmpty:
        // Either a copy of the version advances and the original stays, or only the original
        // advances.
        let index = random.below(helds.count)
        var state = helds[index].state
        let old = try JSONValue(parsing: helds[index].text)
        if random.below(2) == 0 { helds.remove(at: index) }
        let patch = try Self.advance(&state, to: lists[chosen], isShort: random.below(2) == 0)
        let text = try JSON.encode(lists[chosen])
        #expect(
          try patch.apply(to: old) == JSONValue(parsing: text), "\(random), step \(step)")
        helds.append((state, text))
      case 5 where !helds.isEmpty:
        helds.remove(at: random.below(helds.count))
      default:
        lists[chosen].changeOnce(step, &random)
      }
      for held in helds where random.below(8) == 0 {
        try #require(held.state.text == held.text, "\(random), step \(step)")
      }
    }
    for held in helds { #expect(held.state.text == held.text) }
    for list in lists { #expect(list.faults == []) }
  }

  @Test("a version can be written on other threads while the list changes")
  func threads() async throws {
    var list = KeyedList<Item>(count: 500)
    var held = try JSONEncodedState(list)
    try await withThrowingTaskGroup { group in
      for step in 0..<200 {
        let (state, text, copy) = (held, try JSON.encode(list), list)
        group.addTask {
          #expect(state.text == text)
          // A copy of the list may be changed meanwhile.
          var copy = copy
          copy.update(id: "7") { $0.title = "copy \(step)" }
          var mine = state
          let patch = try Self.advance(&mine, to: copy, isShort: false)
          #expect(patch.operations.count == 1)
          #expect(state.text == text)
        }
        for number in 0..<(step % 3 == 0 ? 1 : 90) {
          list.update(id: "\(1 + (step * 31 + number) % 500)") { $0.title = "\(step)" }
        }
        _ = try Self.advance(&held, to: list, isShort: step % 2 == 0)
      }
      try await group.waitForAll()
    }
    #expect(try held.text == JSON.encode(list))
  }

  @Test("a removed element is released at the next change")
  func ends() throws {
    var list = KeyedList((0..<100).map { Owner(id: "\($0)", thing: nil) })
    var held = try JSONEncodedState(list)
    weak var weakThing: Thing?
    do {
      let thing = Thing()
      weakThing = thing
      list.update(id: "7") { $0.thing = thing }
    }
    _ = try Self.advance(&held, to: list, isShort: true)
    #expect(weakThing != nil)
    list.remove(id: "7")
    _ = try Self.advance(&held, to: list, isShort: true)
    list.remove(id: "8")
    #expect(weakThing == nil)
  }

  @Test(
    "an element whose deinit needs the lock of a list is released outside that lock",
    .timeLimit(.minutes(15)))
  func endsOutside() throws {
    // Three hundred lists, so that some of them share the lock of `list`.
    var list = KeyedList(
      try (0..<300).map { number in
        Owner(id: "\(number)", thing: Thing(try JSONEncodedState(KeyedList<Item>(count: 2))))
      })
    do {
      var held = try JSONEncodedState(list)
      for number in 0..<100 {
        list.remove(id: "\(number)")
        _ = try Self.advance(&held, to: list, isShort: true)
      }
    }
    // Without a version these elements are released immediately.
    for number in 100..<300 { list.update(id: "\(number)") { $0.thing = nil } }
    #expect(list.count == 200)
  }

  /// Advances an encoded state to a list and returns the patch.
  ///
  /// - Parameter isShort: True to advance only the list, as for a view state whose other members
  ///   have not changed.
  private static func advance<Element: Encodable>(
    _ state: inout JSONEncodedState, to list: KeyedList<Element>, isShort: Bool
  ) throws -> JSONPatch {
    var patch = JSONPatchWriter()
    if isShort {
      var writer = JSONWriter()
      try state.advance(
        toDiffable: Whole(list: list), by: JSONEncoding(), using: &writer, writing: &patch)
    } else {
      state.advance(to: try JSONEncodedState(list), writing: &patch)
    }
    return try JSONPatch(JSONValue(parsing: patch.bytes()))
  }
}

/// A view state that consists of one list.
private struct Whole<Element: Encodable & Identifiable & Sendable>: Encodable,
  IncrementallyDiffable
where Element.ID: KeyedListID {
  let list: KeyedList<Element>

  var layout: UInt8 { 1 }
  func write(to writer: inout JSONWriter) { list.place(in: &writer) }
  func place(in writer: inout JSONWriter) { list.place(in: &writer) }
  func encode(to encoder: any Encoder) throws { try list.encode(to: encoder) }

  func advancePart(
    _ held: inout any JSONDifferencing, writing patch: inout JSONPatchWriter
  ) -> Bool { list.bring(&held, writing: &patch) }
}

/// An object that may hold the version of another list.
private final class Thing: Sendable {
  let state: JSONEncodedState?
  init(_ state: JSONEncodedState? = nil) { self.state = state }
}

private struct Owner: Encodable, Identifiable, Sendable {
  let id: String
  var thing: Thing?

  private enum CodingKeys: CodingKey { case id }
}

extension JSONEncodedState {
  fileprivate var text: [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.bytes()
  }
}
