// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StatewireJSON

@Suite("Encoded members")
struct EncodedMembersTests {
  /// A state with members of many kinds.
  struct State: Codable {
    var count = 0
    var title = "a title of some length, so that replacing all is not worthwhile"
    var left = Part()
    var right = Part()
    var numbers: [Int] = [1, 2, 3]
    var named: [String: Part] = [:]
    var phase = Phase.idle
    var note: String?
    var part: Part?
    var counter = Counter(value: 0)
    var last = Part()
  }

  struct Part: Codable {
    var value = 0.0
    var text = "a text of more than fifteen bytes"
    var list: [String] = []
  }

  enum Phase: Codable {
    case idle
    case busy(part: Part, since: Int)
  }

  /// A value whose members depend on what it holds.
  struct Variable: Encodable {
    var names: [String]
    var value = Part()

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Name.self)
      for name in names { try container.encode(value, forKey: Name(stringValue: name)) }
    }
  }

  struct Name: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// A state that is written with and without kept members.
  private struct Twin<T: Encodable> {
    var kept: JSONEncodedState
    var plain: JSONEncodedState
    let keeping = JSONEncoding<T>(keepsMembers: true)
    let writing = JSONEncoding<T>()
    let buffers = Buffers()

    final class Buffers {
      var first = JSONWriter()
      var second = JSONWriter()
    }

    init(_ value: T) throws {
      kept = try JSONEncodedState(value)
      plain = kept
    }

    /// Advances both, and returns both patches.
    mutating func advance(to value: T) throws -> (kept: String, plain: String) {
      var first = JSONPatchWriter()
      var second = JSONPatchWriter()
      try kept.advance(to: value, by: keeping, using: &buffers.first, writing: &first)
      try plain.advance(to: value, by: writing, using: &buffers.second, writing: &second)
      #expect(kept.wholeText == plain.wholeText)
      return (string(first.bytes()), string(second.bytes()))
    }

    private func string(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
  }

  @Test("the texts and patches are those of a state that keeps no members")
  func sameAsPlain() throws {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<40 {
      var state = State()
      var twin = try Twin(state)
      for _ in 0..<60 {
        for _ in 0..<Int.random(in: 0...2, using: &random) { change(&state, &random) }
        let patches = try twin.advance(to: state)
        #expect(patches.kept == patches.plain)
      }
    }
  }

  private func change(_ state: inout State, _ random: inout SeededGenerator) {
    let number = Int.random(in: 0...3, using: &random)
    switch Int.random(in: 0...13, using: &random) {
    case 0: state.count = number
    case 1: state.title = String(repeating: "title ", count: number)
    case 2: state.left.value = Double(number)
    case 3: state.right.list.append("\(number)")
    case 4: state.right.list.removeAll()
    case 5: state.numbers.append(number)
    case 6: state.numbers = Array(repeating: 1, count: number)
    case 7: state.named["\(number)/~\"", default: Part()].value += 1
    case 8: state.named["\(number)"] = nil
    case 9: state.phase = number == 0 ? .idle : .busy(part: state.left, since: number)
    case 10: state.note = number == 0 ? nil : "note \(number)"
    case 11: state.part = number == 0 ? nil : Part(value: Double(number))
    case 12: state.counter.value = number
    default: state.last.text = String(repeating: "text ", count: number)
    }
  }

  @Test("values with the same bytes are the same, whatever padding they have")
  func sameBytes() throws {
    struct Padded {
      var flag = true
      var number = 1
      var small: UInt8 = 2
      var text = "a text of more than fifteen bytes"
      var pair = (true, 4)
      var list = [1]
    }
    /// Returns a value in memory whose padding has a pattern.
    func value(_ pattern: UInt8, _ list: [Int]) -> UnsafeMutablePointer<Padded> {
      let memory = UnsafeMutableRawPointer.allocate(
        byteCount: MemoryLayout<Padded>.size, alignment: MemoryLayout<Padded>.alignment)
      memory.initializeMemory(
        as: UInt8.self, repeating: pattern, count: MemoryLayout<Padded>.size)
      let pointer = memory.assumingMemoryBound(to: Padded.self)
      pointer.initialize(to: Padded(list: list))
      return pointer
    }
    let list = [1, 2]
    let (first, second) = (value(0, list), value(0xff, list))
    let kept = try #require(KeptValue(first.pointee))
    #expect(kept.isSame(as: second.pointee))
    second.pointee.pair.0 = false
    #expect(!kept.isSame(as: second.pointee))
    second.pointee.pair.0 = true
    second.pointee.list.append(3)
    #expect(!kept.isSame(as: second.pointee))
    #expect(!kept.isSame(as: 1))
    kept.replace(by: second.pointee)
    #expect(kept.isSame(as: second.pointee))
    for pointer in [first, second] {
      pointer.deinitialize(count: 1)
      pointer.deallocate()
    }
  }

  @Test("a value that cannot be encoded changes nothing, and the next one is compared correctly")
  func unencodable() throws {
    var state = State()
    var twin = try Twin(state)
    state.left.value = 1
    _ = try twin.advance(to: state)
    for value in 2..<6 {
      var wrong = state
      wrong.count += 1
      wrong.left.value = Double(value)
      wrong.right.value = .infinity
      let before = twin.kept.wholeText
      #expect(throws: JSONError.self) { try twin.advance(to: wrong) }
      #expect(twin.kept.wholeText == before)
      state.right.value = Double(value)
      let patches = try twin.advance(to: state)
      #expect(patches.kept == #"[{"op":"replace","path":"/right/value","value":\#(value)}]"#)
      #expect(patches.kept == patches.plain)
    }
  }

  @Test("members may appear, vanish, change places and have names that need escapes")
  func members() throws {
    var value = Variable(names: ["a", "b", "c"])
    var twin = try Twin(value)
    for names in [
      ["a", "b", "c"], ["a", "c"], ["a", "b", "c", "d"], ["d", "c", "b", "a"], [],
      ["~/\"\u{1}é", "b"], ["~/\"\u{1}é", "b"], ["b"],
    ] {
      for number in 0..<3 {
        value.names = names
        if number != 1 { value.value.value += 1 }
        let patches = try twin.advance(to: value)
        #expect(patches.kept == patches.plain)
      }
    }
  }

  @Test("members of which all change are replaced as a whole where that is shorter")
  func all() throws {
    var value = Variable(names: (0..<100).map(String.init), value: Part(text: ""))
    var twin = try Twin(value)
    for _ in 0..<3 {
      value.value.value += 1
      let patches = try twin.advance(to: value)
      #expect(patches.kept == patches.plain)
      #expect(patches.kept.hasPrefix(#"[{"op":"replace","path":"","value":{"#))
    }
  }

  @Test("a value that writes to a container after another one is written as without kept members")
  func interleaved() throws {
    struct Interleaved: Encodable {
      var value: Int
      func encode(to encoder: any Encoder) throws {
        var outer = encoder.container(keyedBy: Name.self)
        var inner = outer.nestedContainer(keyedBy: Name.self, forKey: Name(stringValue: "in"))
        try outer.encode([value], forKey: Name(stringValue: "a"))
        try inner.encode([value], forKey: Name(stringValue: "b"))
      }
    }
    var twin = try Twin(Interleaved(value: 0))
    for value in [1, 1, 2, 3] {
      let patches = try twin.advance(to: Interleaved(value: value))
      #expect(patches.kept == patches.plain)
    }
  }

  private final class Reference: Sendable {}
  private struct Referring { var (number, reference) = (1, Reference()) }

  @Test("values with objects, whose contents may change, are not kept; collections are")
  func objects() {
    #expect(KeptValue(Reference()) == nil)
    #expect(KeptValue(Referring()) == nil)
    #expect(KeptValue(Optional(Reference())) == nil)
    #expect(KeptValue(Part()) != nil)
    #expect(KeptValue(["text": [1, 2]]) != nil)
    #expect(KeptValue(Set(["text"])) != nil)
    #expect(KeptValue(Optional([1])) != nil)
    #expect(KeptValue(Phase.busy(part: Part(), since: 1)) != nil)
  }
}
