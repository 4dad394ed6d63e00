// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireJSON
import TestSupport
import Testing

@testable import VersionedList

/// An id that tests can make from a number.
private protocol NumberedID: KeyedListID, Codable, Sendable { init(number: Int) }

extension UUID: NumberedID {
  fileprivate init(number: Int) {
    // Equal strings apart from the number, as UUIDs of one generator may have.
    let digits = String(number, radix: 16, uppercase: true)
    let padded = String(repeating: "0", count: 12 - digits.count) + digits
    self = UUID(uuidString: "E621E1F8-C36C-495A-93FC-\(padded)") ?? UUID()
  }
}
extension Int: NumberedID { fileprivate init(number: Int) { self = number - 20 } }
extension String: NumberedID {
  fileprivate init(number: Int) {
    self = ["", "caf\u{e9}", "cafe\u{301}"][number % 3] + "\(number)"
  }
}

private enum Letter: String, Codable, KeyedListID, CaseIterable, NumberedID {
  case a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z
  init(number: Int) { self = Self.allCases[number % Self.allCases.count] }
}
private enum Rank: Int, Codable, KeyedListID {
  case low = 1
  case high = 10
}

private struct Ticket: LosslessStringConvertible, Codable, KeyedListID, NumberedID {
  let number: Int
  init(number: Int) { self.number = number }
  init?(_ description: String) {
    guard let number = Int(description.dropFirst()) else { return nil }
    self.number = number
  }
  var description: String { "#\(number)" }
  init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let ticket = Ticket(text) else { throw JSONError(.value, "not a ticket") }
    self = ticket
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

private struct Row<ID: NumberedID>: Codable, Identifiable, Sendable, Equatable {
  let id: ID
  var title = ""
}

@Suite("Ids of a keyed list", .timeLimit(.minutes(15)))
struct KeyedListIDTests {
  @Test("an element is read, changed, added and removed by its id")
  func subscripts() throws {
    var list: KeyedList<Row<UUID>> = []
    let ids = (0..<3).map(UUID.init(number:))
    for id in ids { list[id: id] = Row(id: id) }
    #expect(list.map(\.id) == ids)
    list[id: ids[1]]?.title = "changed"
    list[id: ids[0]] = Row(id: ids[0], title: "replaced")
    #expect(list.map(\.title) == ["replaced", "changed", ""])
    list[id: ids[0]] = nil
    list[id: UUID()] = nil
    list[id: UUID()]?.title = "nowhere"
    #expect(list.map(\.id) == [ids[1], ids[2]])
    #expect(list[id: ids[0]] == nil && list.position(of: ids[2]) == 1)
    #expect(try JSON.decode(KeyedList<Row<UUID>>.self, from: JSON.encode(list)) == list)
    list.removeAll { $0.title.isEmpty }
    #expect(list.map(\.title) == ["changed"])
  }

  @Test("a list is a collection with random access")
  func collection() {
    let list = KeyedList((0..<100).map { Row(id: $0) })
    #expect(list.startIndex == 0 && list.endIndex == 100 && list.indices == 0..<100)
    #expect(list.first?.id == 0)
    #expect(list.last?.id == 99)
    #expect(list.suffix(2).map(\.id) == [98, 99])
    #expect(list[10..<12].map(\.id) == [10, 11])
    #expect(list.reversed().first?.id == 99)
    #expect(list.firstIndex { $0.id == 42 } == 42)
    #expect(list.index(list.startIndex, offsetBy: 7) == 7)
    #expect(Array(list).count == 100 && list.lazy.map(\.id).max() == 99)
  }

  @Test("a change by id changes the list in place")
  func inPlace() {
    var list = KeyedList((0..<10_000).map { Row(id: UUID(number: $0)) })
    let before = list.shape
    list[id: UUID(number: 5_000)]?.title = "x"
    list[id: UUID(number: 20_000)] = Row(id: UUID(number: 20_000))
    // A node may have been divided.
    #expect(list.shape.nodesNot(in: before) <= 1)
  }

  @Test("a change in one list of a dictionary of lists is one operation")
  func dictionaryOfLists() throws {
    var columns: [Letter: KeyedList<Row<UUID>>] = [:]
    for (number, letter) in [Letter.a, .b, .c].enumerated() {
      columns[letter] = KeyedList((0..<500).map { Row(id: UUID(number: number * 1_000 + $0)) })
    }
    var reader = try Follower(columns)
    columns[.b]?[id: UUID(number: 1_200)]?.title = "x"
    try reader.follow(columns)
    #expect(reader.text == #"[{"op":"replace","path":"/b/200/title","value":"x"}]"#)
    // A move between two lists is a removal and an addition.
    let moved = columns[.b]?.remove(id: UUID(number: 1_200))
    columns[.c]?.insert(try #require(moved), at: 0)
    try reader.follow(columns)
    #expect(reader.operations.count == 2)
  }

  @Test("enums with raw values and types with a lossless description are ids")
  func otherIDs() {
    #expect(Letter.a.keyText == "a" && Rank.high.keyText == "10")
    #expect(Ticket(number: 7).keyText == "#7" && (-5).keyText == "-5")
    #expect("x".keyText == "x")
  }

  @Test(
    "a list behaves as an array, and its patches are exact, whatever its ids are",
    arguments: 1...12 as ClosedRange<UInt64>)
  func random(seed: UInt64) throws {
    try random(UUID.self, seed)
    try random(Int.self, seed)
    try random(String.self, seed)
    try random(Letter.self, seed)
    try random(Ticket.self, seed)
  }

  private func random<ID: NumberedID>(_ type: ID.Type, _ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var model: [Row<ID>] = []
    var list: KeyedList<Row<ID>> = []
    var reader = try Follower(list)
    func position(_ id: ID) -> Int? {
      model.firstIndex { $0.id.keyText.utf8.elementsEqual(id.keyText.utf8) }
    }
    for step in 0..<300 {
      for _ in 0..<(random.below(20) == 0 ? 100 : 1) {
        let id = ID(number: random.below(40))
        let row = Row(id: id, title: "\(random.below(4))")
        switch random.below(6) {
        case 0, 1:
          list[id: id] = row
          if let at = position(id) { model[at] = row } else { model.append(row) }
        case 2:
          list[id: id] = nil
          if let at = position(id) { model.remove(at: at) }
        case 3:
          list[id: id]?.title += "!"
          if let at = position(id) { model[at].title += "!" }
        case 4:
          let place = random.below(model.count + 1)
          list.insert(row, at: place)
          if let at = position(id) { model[at] = row } else { model.insert(row, at: place) }
        default:
          let other = random.below(3) == 0 ? nil : ID(number: random.below(40))
          list.move(id: id, before: other)
          guard let from = position(id) else { continue }
          guard let other else {
            model.append(model.remove(at: from))
            continue
          }
          guard let to = position(other), to != from else { continue }
          let moved = model.remove(at: from)
          model.insert(moved, at: to > from ? to - 1 : to)
        }
      }
      #expect(Array(list) == model, "\(random), step \(step)")
      try reader.follow(list, "\(random), step \(step)")
    }
    #expect(list.faults == [])
  }
}
