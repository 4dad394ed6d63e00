// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireJSON
import Testing

@Suite("Codable")
struct CodableTests {
  struct Numbers: Codable, Equatable {
    var int = -1
    var int8: Int8 = -2
    var int16: Int16 = -3
    var int32: Int32 = -4
    var int64 = Int64.min
    var int128 = Int128.max
    var uint: UInt = 1
    var uint8: UInt8 = 2
    var uint16: UInt16 = 3
    var uint32: UInt32 = 4
    var uint64 = UInt64.max
    var uint128 = UInt128.max
    var double = 0.1
    var float: Float = 0.1
    var bool = true
    var string = "é"
  }

  struct Absent: Codable, Equatable {
    var int: Int?
    var int8: Int8?
    var int16: Int16?
    var int32: Int32?
    var int64: Int64?
    var int128: Int128?
    var uint: UInt?
    var uint8: UInt8?
    var uint16: UInt16?
    var uint32: UInt32?
    var uint64: UInt64?
    var uint128: UInt128?
    var double: Double?
    var float: Float?
    var bool: Bool?
    var string: String?
    var array: [Int]?
    var value: Numbers?
  }

  struct Box<Value: Codable & Equatable>: Codable, Equatable {
    var value: Value
  }

  @Test("all types of the standard library are encoded and decoded")
  func everyType() throws {
    try check(Numbers())
    #expect(
      try JSON.encode(Numbers()).text.hasPrefix(#"{"int":-1,"int8":-2,"int16":-3,"int32":-4,"#))
    var present = Absent()
    let absent = try JSON.encode(present).text
    #expect(absent.hasPrefix(#"{"int":null,"int8":null,"#) && !absent.contains(":1"))
    try check(present)
    #expect(try JSON.decode(Absent.self, from: Array("{}".utf8)) == present)
    present = Absent(
      int: 1, int8: 2, int16: 3, int32: 4, int64: 5, int128: 6, uint: 7, uint8: 8, uint16: 9,
      uint32: 10, uint64: 11, uint128: 12, double: 1.5, float: 2.5, bool: false, string: "",
      array: [], value: Numbers())
    try check(present)
  }

  @Test("sequences and single values of all types are encoded and decoded")
  func sequences() throws {
    try check([[1, 2], []])
    try check([Int8.min, .max])
    try check([UInt64.max])
    try check([1.5, -0.25, 1e300])
    try check([Float(0.1)])
    try check([true, false])
    try check(["", "\u{00}"])
    try check([nil, 1, nil] as [Int?])
    try check(["a": ["b": [1]]])
    try check([1: "x", 2: "y"])
    try check(Set(["x"]))
    try check("alone")
    try check(7)
    try check(Box<Int?>(value: nil))
    try check(Box(value: [Box(value: 1)]))
    try check(Optional<Int>.none)
    #expect(try JSON.decode(Box<Int?>.self, from: Array("{}".utf8)) == Box(value: nil))
    #expect(throws: JSONError.self) {
      try JSON.decode(Box<JSONValue>.self, from: Array("{}".utf8))
    }
    try check(Box<JSONValue>(value: ["x": nil]))
    try check(1...3)
  }

  struct Failing: Codable {
    struct Reason: Error {}
    init() {}
    init(from decoder: any Decoder) throws { throw Reason() }
    func encode(to encoder: any Encoder) throws { throw Reason() }
  }

  @Test("an error that a type throws becomes a `JSONError`")
  func foreignErrors() throws {
    #expect(throws: JSONError.self) { try JSON.decode([Failing].self, from: Array("[1]".utf8)) }
    #expect(throws: JSONError.self) { try JSON.encode([Failing()]) }
    let error = #expect(throws: JSONError.self) {
      try JSON.decode([URL].self, from: Array(#"["http://[x"]"#.utf8))
    }
    #expect(error?.pathDescription == "/0")
  }

  @Test("a double that is not finite is refused with its path, and nothing is written")
  func nonFinite() throws {
    let cases: [(any Encodable, String)] = [
      (Box(value: [1, Double.nan]), "/value/1"), ([Float.infinity], "/0"),
      (["a/b": Box(value: -Double.infinity)], "/a~1b/value"), (Double.nan, ""),
      (Box<Double?>(value: .nan), "/value"), (Float.nan, ""),
    ]
    for (value, path) in cases {
      var writer = JSONWriter()
      writer.beginArray()
      writer.value(1)
      let error = #expect(throws: JSONError.self) { try JSON.write(value, to: &writer) }
      #expect(error?.code == .number && error?.pathDescription == path)
      writer.value(2)
      #expect(writer.string() == "[1,2")
    }
  }

  @Test(
    "an error of decoding has a path",
    arguments: [
      (#"{"value":[{"value":1},{"valu":1}]}"#, "/value/1/value", JSONError.Code.missing),
      (#"{"value":[{"value":1},{"value":"1"}]}"#, "/value/1/value", .type),
      (#"{"value":[{"value":1},7]}"#, "/value/1", .type), (#"{"value":{}}"#, "/value", .type),
      (#"{"value":[{"value":1.5}]}"#, "/value/0/value", .number), ("[]", "", .type),
      (#"{"value":[{"value":null}]}"#, "/value/0/value", .type),
      (#"{"value":[}"#, "/value/0", .syntax),
      (#"{"value":null}"#, "/value", .type), (#"{"value":[],"x":nul}"#, "/x", .syntax),
      (#"{"value":[]} x"#, "", .syntax),
    ])
  func paths(_ text: String, _ path: String, _ code: JSONError.Code) {
    let error = #expect(throws: JSONError.self) {
      try JSON.decode(Box<[Box<Int>]>.self, from: Array(text.utf8))
    }
    #expect(error?.pathDescription == path && error?.code == code, "\(error as Any)")
  }

  @Test("an object with 50,000 members is decoded without quadratic cost")
  func large() throws {
    let value = Dictionary(uniqueKeysWithValues: (0..<50_000).map { ("key\($0)", $0) })
    try check(value)
  }

  @Test("`JSONValue` can be encoded and decoded by other coders")
  func foreignCoders() throws {
    let text = #"{"a":[1,-2,18446744073709551615,1.5,"x",true,null,{}],"b":{}}"#
    let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    #expect(try value == JSONValue(parsing: text))
    #expect(try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value)) == value)
    let object = try #require(value.object)
    #expect(try JSONDecoder().decode(JSONObject.self, from: JSONEncoder().encode(object)) == object)
    #expect(throws: (any Error).self) {
      try JSONDecoder().decode(JSONObject.self, from: Data("[]".utf8))
    }
    #expect(throws: (any Error).self) { try JSON.decode(JSONObject.self, from: Array("[]".utf8)) }
    try check(object)
    try check(JSONNumber(5))
    try check(JSONPatch([.remove(JSONPointer(["a"]))]))
    #expect(throws: JSONError.self) { try JSON.decode([JSONPatch].self, from: Array("[[1]]".utf8)) }
  }
}
