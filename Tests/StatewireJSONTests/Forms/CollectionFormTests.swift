// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireJSON
import Testing

private enum Column: String, Codable, CaseIterable {
  case todo = "to do"
  case doing, done
}
private enum Level: UInt8, Codable {
  case low = 1
  case high = 10
}
private enum Plain: Codable { case one, two }
private struct CardID: Codable, Hashable {
  let text: String
  init(_ text: String) { self.text = text }
  init(from decoder: any Decoder) throws {
    text = try decoder.singleValueContainer().decode(String.self)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
private struct Point: Codable, Hashable { var x = 0, y = 0 }
private enum Shape: Codable, Hashable {
  case circle(Int, named: String)
  case square
}
private struct Named: Hashable, Codable, CodingKeyRepresentable {
  let name: String
  init(_ name: String) { self.name = name }
  init?(codingKey: some CodingKey) { name = codingKey.stringValue }
  var codingKey: any CodingKey { Key(stringValue: name) }
  struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

@Suite("Forms of sets and dictionaries", .timeLimit(.minutes(15)))
struct CollectionFormTests {
  private func check<T: Codable & Equatable>(
    _ value: T, _ form: String, alsoFrom others: String...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(try JSON.encode(value).text == form, sourceLocation: sourceLocation)
    for text in [form] + others {
      #expect(
        try JSON.decode(T.self, from: Array(text.utf8)) == value, "\(text)",
        sourceLocation: sourceLocation)
    }
  }

  @Test("a dictionary is an object if its keys are coded as strings or integers")
  func objects() throws {
    try check([Column.todo: 1], #"{"to do":1}"#, alsoFrom: #"["to do",1]"#)
    try check([Column: Int](), "{}", alsoFrom: "[]")
    try check([Level.high: "x"], #"{"10":"x"}"#, alsoFrom: #"[10,"x"]"#)
    try check([UInt8(7): true], #"{"7":true}"#)
    try check([-5: 1], #"{"-5":1}"#)
    try check([Int128(7): true], #"{"7":true}"#)
    try check([CardID("a"): [Column.done: 2]], #"{"a":{"done":2}}"#)
    try check([CardID("7"): 1], #"{"7":1}"#)
    let id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
    try check([id: 1], #"{"E621E1F8-C36C-495A-93FC-0C247A3E6E5F":1}"#)
    try check([Date(timeIntervalSince1970: 0): 1], #"{"1970-01-01T00:00:00Z":1}"#)
    try check([try #require(URL(string: "a:b")): 1], #"{"a:b":1}"#)
    try check([Named("n"): 1], #"{"n":1}"#)
    try check(["k": 1], #"{"k":1}"#)
    let error = #expect(throws: JSONError.self) {
      try JSON.decode([String: [Column: Int]].self, from: Array(#"{"a":{"never":1}}"#.utf8))
    }
    #expect(error?.pathDescription == "/a/never" && error?.code == .value)
    #expect(throws: JSONError.self) {
      try JSON.decode([Level: Int].self, from: Array(#"{"x":1}"#.utf8))
    }
    #expect(throws: JSONError.self) { try JSON.encode([Column.todo: Double.nan]) }
  }

  @Test("a dictionary with other keys is an array of entries in an order that does not vary")
  func entries() throws {
    try check(
      [Point(x: 2): "b", Point(x: 1): "a"],
      #"[{"key":{"x":1,"y":0},"value":"a"},{"key":{"x":2,"y":0},"value":"b"}]"#,
      alsoFrom: #"[{"x":1,"y":0},"a",{"x":2,"y":0},"b"]"#)
    try check([Point: Int](), "[]")
    try check([true: 1], #"[{"key":true,"value":1}]"#)
    try check([0.5: 1, -0.5: 2], #"[{"key":-0.5,"value":2},{"key":0.5,"value":1}]"#)
    try check([Plain.two: 1], #"[{"key":{"type":"two"},"value":1}]"#)
    try check(
      [Shape.circle(1, named: "a"): 1],
      #"[{"key":{"type":"circle","_0":1,"named":"a"},"value":1}]"#)
    let error = #expect(throws: JSONError.self) {
      try JSON.decode([Bool: Int].self, from: Array(#"[{"key":true}]"#.utf8))
    }
    #expect(error?.pathDescription == "/0/value")
  }

  @Test("a set is an array in ascending order")
  func sets() throws {
    try check(Set([10, 9, 1]), "[1,9,10]", alsoFrom: "[10,9,1,1]")
    try check(Set(["b", "a"]), #"["a","b"]"#)
    try check(Set(Column.allCases), #"["doing","done","to do"]"#)
    try check(Set([Date(timeIntervalSince1970: 0)]), #"["1970-01-01T00:00:00Z"]"#)
    try check(Set<Int>(), "[]")
    // Equal sets have one text, whatever their history is.
    var large = Set((0..<1000).map(Point.init(x:)))
    let text = try JSON.encode(large)
    for x in 1000..<3000 { large.insert(Point(x: x)) }
    for x in 1000..<3000 { large.remove(Point(x: x)) }
    #expect(try JSON.encode(large) == text)
  }

  @Test("an unlabelled payload has the members _0, _1 and so on")
  func unlabelledPayloads() throws {
    try check([Shape.circle(1, named: "a")], #"[{"type":"circle","_0":1,"named":"a"}]"#)
    try check([Shape.square], #"[{"type":"square"}]"#)
  }
}

extension Point {
  fileprivate init(x: Int) { self.init(x: x, y: 0) }
}
