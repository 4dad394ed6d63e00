// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

/// Tests of enums with raw values, which use the methods of single-value containers for those
/// types.
@Suite("Raw values")
struct RawValueTests {
  enum OfInt: Int, Codable { case one = 1 }
  enum OfInt8: Int8, Codable { case one = -1 }
  enum OfInt16: Int16, Codable { case one = -1 }
  enum OfInt32: Int32, Codable { case one = -1 }
  enum OfInt64: Int64, Codable { case one = -1 }
  enum OfUInt: UInt, Codable { case one = 1 }
  enum OfUInt8: UInt8, Codable { case one = 1 }
  enum OfUInt16: UInt16, Codable { case one = 1 }
  enum OfUInt32: UInt32, Codable { case one = 1 }
  enum OfUInt64: UInt64, Codable { case one = 18_446_744_073_709_551_615 }
  enum OfDouble: Double, Codable { case one = 0.5 }
  enum OfFloat: Float, Codable { case one = 0.5 }
  enum OfString: String, Codable { case one }

  struct OfBool: RawRepresentable, Codable, Equatable { var rawValue: Bool }

  enum Payload: Codable { case one(number: Int) }

  // To compare and to hash such texts takes a time that grows with the square of their length.
  @Test("names and keys with very many marks are refused", arguments: [31, 50_000])
  func marks(_ count: Int) {
    let text = "a" + String(repeating: "\u{301}\u{316}", count: count)
    func refuses<T: Decodable>(_ type: T.Type, _ json: String) {
      #expect(throws: JSONError.self) { try JSON.decode(type, from: Array(json.utf8)) }
    }
    refuses(OfString.self, "\"\(text)\"")
    refuses([OfString].self, "[\"one\",\"\(text)\"]")
    refuses([String: Int].self, "{\"\(text)\":1}")
    refuses(Payload.self, "{\"type\":\"\(text)\",\"number\":1}")
  }

  // A state with such a key was journaled, and could not be restored.
  @Test("keys that are not decoded are not encoded", arguments: [30, 31])
  func encodedKeys(_ marks: Int) throws {
    let key = "a" + String(repeating: "\u{301}", count: marks)
    func check<T: Codable & Equatable>(_ value: T) throws {
      let json = try? JSON.encode(value)
      #expect((json != nil) == (marks == 30))
      if let json { #expect(try JSON.decode(T.self, from: json) == value) }
    }
    try check([key: 1])
    try check([key: [1]])
    try check(["a": [[key: "x"]]])
    try check([key: [key: Bool?.none]])
    for container in KeyedNest.Container.allCases {
      let json = try? JSON.encode([KeyedNest(key: key, container)])
      #expect((json != nil) == (marks == 30), "\(container)")
    }
  }

  // Each path costs a search from the start of the text.
  @Test("of several keys that are not encoded the first one is reported")
  func firstKey() {
    let key = "a" + String(repeating: "\u{301}", count: 31)
    let error = #expect(throws: JSONError.self) {
      try JSON.encode([["x": [key: 1]], ["y": [key: 1]]])
    }
    #expect(error?.path == [.index(0), .key("x")])
  }

  /// A value that opens a container for a key.
  private struct KeyedNest: Encodable {
    enum Container: CaseIterable { case keyed, unkeyed, superclass }

    let key: String
    let container: Container

    init(key: String, _ container: Container) { (self.key, self.container) = (key, container) }

    func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: AnyKey.self)
      switch container {
      case .keyed: _ = members.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey(key))
      case .unkeyed: _ = members.nestedUnkeyedContainer(forKey: AnyKey(key))
      case .superclass: try 1.encode(to: members.superEncoder(forKey: AnyKey(key)))
      }
    }
  }

  private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ text: String) { stringValue = text }
    init(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
  }

  @Test("texts with very many marks are decoded")
  func texts() throws {
    let text = "a" + String(repeating: "\u{301}\u{316}", count: 50)
    let json = Array("[\"\(text)\"]".utf8)
    #expect(try JSON.decode([String].self, from: json) == [text])
  }

  @Test("raw values of all types are encoded and decoded")
  func everyType() throws {
    try check([OfInt.one])
    try check([OfInt8.one])
    try check([OfInt16.one])
    try check([OfInt32.one])
    try check([OfInt64.one])
    try check([OfUInt.one])
    try check([OfUInt8.one])
    try check([OfUInt16.one])
    try check([OfUInt32.one])
    try check([OfUInt64.one])
    try check([OfDouble.one])
    try check([OfFloat.one])
    try check([OfString.one])
    try check([OfBool(rawValue: true)])
    #expect(try JSON.encode(["a": OfString.one]).text == #"{"a":"one"}"#)
  }

  @Test("an unknown raw value is an error that does not quote the value")
  func unknown() {
    let error = #expect(throws: JSONError.self) {
      try JSON.decode([OfString].self, from: Array(#"["one","secret"]"#.utf8))
    }
    #expect(error?.pathDescription == "/1" && error?.code == .value)
    #expect(error?.message.contains("secret") == false)
  }
}
