// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@Suite("Containers")
struct ContainerTests {
  typealias Numbers = CodableTests.Numbers

  /// Encodes and decodes elements with each method of the unkeyed containers.
  struct Sequence: Codable, Equatable {
    var numbers = Numbers()
    init() {}

    init(from decoder: any Decoder) throws {
      var container = try decoder.unkeyedContainer()
      numbers.int = try container.decode(Int.self)
      numbers.int8 = try container.decode(Int8.self)
      numbers.int16 = try container.decode(Int16.self)
      numbers.int32 = try container.decode(Int32.self)
      numbers.int64 = try container.decode(Int64.self)
      numbers.int128 = try container.decode(Int128.self)
      numbers.uint = try container.decode(UInt.self)
      numbers.uint8 = try container.decode(UInt8.self)
      numbers.uint16 = try container.decode(UInt16.self)
      numbers.uint32 = try container.decode(UInt32.self)
      numbers.uint64 = try container.decode(UInt64.self)
      numbers.uint128 = try container.decode(UInt128.self)
      numbers.double = try container.decode(Double.self)
      numbers.float = try container.decode(Float.self)
      numbers.bool = try container.decode(Bool.self)
      numbers.string = try container.decode(String.self)
      #expect(try container.decodeNil())
      #expect(try !container.decodeNil())
      #expect(container.currentIndex == 17 && !container.isAtEnd)
      var nested = try container.nestedUnkeyedContainer()
      #expect(try nested.decode(Int.self) == 1)
      let keyed = try container.nestedContainer(keyedBy: Key.self)
      #expect(try keyed.decode(Int.self, forKey: .a) == 1)
      #expect(try Int(from: container.superDecoder()) == 5)
      #expect(container.isAtEnd && container.count ?? 20 == 20)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      try container.encode(numbers.int)
      try container.encode(numbers.int8)
      try container.encode(numbers.int16)
      try container.encode(numbers.int32)
      try container.encode(numbers.int64)
      try container.encode(numbers.int128)
      try container.encode(numbers.uint)
      try container.encode(numbers.uint8)
      try container.encode(numbers.uint16)
      try container.encode(numbers.uint32)
      try container.encode(numbers.uint64)
      try container.encode(numbers.uint128)
      try container.encode(numbers.double)
      try container.encode(numbers.float)
      try container.encode(numbers.bool)
      try container.encode(numbers.string)
      try container.encodeNil()
      var nested = container.nestedUnkeyedContainer()
      try nested.encode(1)
      var keyed = container.nestedContainer(keyedBy: Key.self)
      try keyed.encode(1, forKey: .a)
      try 5.encode(to: container.superEncoder())
      #expect(container.count == 20)
    }

    enum Key: String, CodingKey { case a }
  }

  @Test("unkeyed containers support all types")
  func unkeyed() throws {
    try check(Sequence())
  }

  /// A value that is encoded in a single-value container.
  struct Single<Value: Codable & Equatable>: Codable, Equatable {
    var value: Value
    init(_ value: Value) { self.value = value }

    init(from decoder: any Decoder) throws {
      value = try decoder.singleValueContainer().decode(Value.self)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
  }

  enum Level: Int8, Codable, Equatable {
    case low = -1
    case high = 1
  }
  enum Size: UInt64, Codable, Equatable { case huge = 18_446_744_073_709_551_615 }
  enum Ratio: Double, Codable, Equatable { case half = 0.5 }

  @Test("single-value containers support all types")
  func single() throws {
    try check(Single("x"))
    try check(Single([Single(1.5)]))
    try check([Level.low, .high])
    try check([Size.huge])
    try check([Ratio.half])
    let error = #expect(throws: JSONError.self) {
      try JSON.decode([Level].self, from: Array("[1,5]".utf8))
    }
    #expect(error?.code == .value && error?.pathDescription == "/1")
  }

  class Base: Codable {
    var a = 1
    init() {}
  }

  final class Derived: Base {
    var b = 2
    enum CodingKeys: CodingKey { case b }
    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      b = try container.decode(Int.self, forKey: .b)
      try super.init(from: container.superDecoder())
    }

    override func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try super.encode(to: container.superEncoder())
      try container.encode(b, forKey: .b)
    }
  }

  @Test("a class can encode its superclass with a super encoder")
  func inheritance() throws {
    let value = Derived()
    value.a = 7
    let bytes = try JSON.encode(value)
    #expect(bytes.text == #"{"super":{"a":7},"b":2}"#)
    let read = try JSON.decode(Derived.self, from: bytes)
    #expect(read.a == 7 && read.b == 2)
  }

  final class Sharing: Base {
    var b = 2
    enum CodingKeys: CodingKey { case b }

    override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(b, forKey: .b)
    }
    required init(from decoder: any Decoder) throws { try super.init(from: decoder) }
    override init() { super.init() }
  }

  @Test("a class can encode its members into the object of its superclass")
  func sharing() throws {
    #expect(try JSON.encode([Sharing()]).text == #"[{"a":1,"b":2}]"#)
  }

  /// Uses several containers alternately.
  struct Interleaved: Encodable {
    var leaf = Counter(value: 3)
    enum Key: CodingKey { case first, second, third, own, superclass }
    enum Inner: CodingKey { case a, b, leaf }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(0, forKey: .own)
      var first = container.nestedContainer(keyedBy: Inner.self, forKey: .first)
      var second = container.nestedUnkeyedContainer(forKey: .second)
      let superEncoder = container.superEncoder(forKey: .superclass)
      _ = container.nestedUnkeyedContainer(forKey: .third)
      try first.encode(1, forKey: .a)
      try second.encode(2)
      var third = second.nestedContainer(keyedBy: Inner.self)
      var fourth = second.nestedUnkeyedContainer()
      try second.encode(leaf)
      try fourth.encode(4)
      try third.encode("x\n", forKey: .a)
      try first.encode(leaf, forKey: .leaf)
      try ["s"].encode(to: superEncoder)
    }
  }

  @Test("the text is complete if containers are used alternately")
  func interleaved() throws {
    let text =
      #"{"own":0,"first":{"a":1,"leaf":3},"second":[2,{"a":"x\n"},[4],3],"superclass":["s"],"third":[]}"#
    #expect(try JSON.encode(Interleaved()).text == text)
    #expect(try JSON.encode([Interleaved(), Interleaved()]).text == "[\(text),\(text)]")
    var writer = JSONWriter()
    writer.beginArray()
    writer.value(1)
    try JSON.write(Interleaved(), to: &writer)
    writer.value(2)
    writer.endArray()
    #expect(writer.string() == "[1,\(text),2]")
    // The text of a state with a leaf is the same.
    var whole = JSONWriter()
    try JSONEncodedState(Interleaved()).write(to: &whole)
    #expect(whole.string() == text)
  }

  struct Twice: Encodable {
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(1)
      try container.encode(2)
    }
  }

  struct Mixed: Encodable {
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(1)
      _ = encoder.unkeyedContainer()
    }
  }

  struct Nothing: Codable, Equatable {
    init() {}
    init(from decoder: any Decoder) {}
    func encode(to encoder: any Encoder) {}
  }

  @Test("an encoder that would produce invalid JSON throws an error")
  func misuse() throws {
    #expect(throws: JSONError.self) { try JSON.encode([Twice()]) }
    #expect(throws: JSONError.self) { try JSON.encode([Mixed()]) }
    #expect(try JSON.encode(["a": Nothing()]).text == #"{"a":{}}"#)
    try check([Nothing(), Nothing()])
  }

  /// Checks the properties of its containers.
  struct Curious: Codable {
    enum Key: String, CodingKey { case a, b, missing }
    init() {}

    init(from decoder: any Decoder) throws {
      #expect(decoder.codingPath.map(\.stringValue) == ["0"] && decoder.userInfo.isEmpty)
      #expect(decoder.codingPath[0].intValue == 0)
      let container = try decoder.container(keyedBy: Key.self)
      #expect(container.codingPath.map(\.stringValue) == ["0"])
      #expect(container.allKeys == [.a, .b] && !container.contains(.missing))
      #expect(try container.decodeNil(forKey: .a))
      #expect(throws: JSONError.self) { try container.decodeNil(forKey: .missing) }
      #expect(throws: JSONError.self) { try container.superDecoder() }
      _ = try container.superDecoder(forKey: .a)
      var array = try container.nestedUnkeyedContainer(forKey: .b)
      #expect(array.codingPath.map(\.stringValue) == ["0", "b"])
      #expect(throws: JSONError.self) { try array.decode(String.self) }
      #expect(try array.decode(Int.self) == 1 && array.isAtEnd)
      let error = #expect(throws: JSONError.self) { try array.decode(Int.self) }
      #expect(error?.pathDescription == "/0/b/1" && error?.code == .missing)
      let single = try decoder.singleValueContainer()
      #expect(single.codingPath.map(\.stringValue) == ["0"] && !single.decodeNil())
    }

    func encode(to encoder: any Encoder) throws {
      #expect(encoder.codingPath.map(\.stringValue) == ["0"] && encoder.userInfo.isEmpty)
      var container = encoder.container(keyedBy: Key.self)
      try container.encodeNil(forKey: .a)
      var array = container.nestedUnkeyedContainer(forKey: .b)
      try array.encode(1)
      #expect(array.codingPath.map(\.stringValue) == ["0", "b"] && array.count == 1)
      #expect(container.codingPath.map(\.stringValue) == ["0"])
      #expect(encoder.singleValueContainer().codingPath.map(\.stringValue) == ["0"])
    }
  }

  @Test("containers have their coding paths")
  func codingPaths() throws {
    let bytes = try JSON.encode([Curious()])
    #expect(bytes.text == #"[{"a":null,"b":[1]}]"#)
    _ = try JSON.decode([Curious].self, from: bytes)
  }
}
