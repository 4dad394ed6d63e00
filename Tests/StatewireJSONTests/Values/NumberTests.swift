// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireJSON
import TestSupport
import Testing

@Suite("Numbers")
struct NumberTests {
  @Test(
    "a number keeps its text",
    arguments: [
      "0", "-0", "1.10", "1e400", "-1e-400", "18446744073709551616", "-9223372036854775809", "1.0",
      "1E2", "100e-2", "0.1000000000000000055511151231257827", "9223372036854775807",
      "9223372036854775808", "18446744073709551615", "-9223372036854775808", "-0.0",
    ])
  func text(_ text: String) throws {
    #expect(try JSONNumber(parsing: text).text == text)
    #expect(try JSONValue(parsing: text).description == text)
  }

  @Test(
    "numbers are equal if their values are exactly equal",
    arguments: [
      ["1", "1.0", "1e0", "10e-1", "0.1e1", "100e-2", "1E+0", "0.00001e5"],
      ["0", "-0", "0.0", "0e5", "-0e-5", "0e999999999999999999999", "0.000e-99999999999999999999"],
      ["1e400", "10e399", "0.1e401", "1000e397"],
      ["1e1000000000", "10e999999999", "0.01e1000000002"],
      ["1e99999999999999999999", "10e99999999999999999998", "0.1e100000000000000000000"],
      ["1e-99999999999999999999", "10e-100000000000000000000", "0.1e-99999999999999999998"],
      ["-5e99999999999999999999", "-0.0005e100000000000000000003"],
      ["18446744073709551616", "18446744073709551616.0", "1844674407370955161600e-2"],
      ["9223372036854775807", "9223372036854775807.0", "922337203685477580.7e1"],
      ["18446744073709551615", "18446744073709551615.000"],
      ["0.5", "5e-1", "0.50", "500e-3"], ["-12.5", "-125e-1", "-0.125e2"],
    ])
  func equality(_ texts: [String]) throws {
    for one in texts {
      for other in texts {
        #expect(try JSONNumber(parsing: one) == JSONNumber(parsing: other), "\(one) \(other)")
      }
    }
  }

  @Test(
    "numbers with different values differ, however small the difference",
    arguments: [
      ("1", "-1"), ("1", "1.0000000000000000000000000001"),
      ("9007199254740992", "9007199254740993.0"),
      ("1e400", "1e401"), ("1e400", "-1e400"), ("0.1", "0.10000000000000001"), ("1", "10"),
      ("9223372036854775807", "9223372036854775808"),
      ("18446744073709551615", "18446744073709551616"),
      ("1e99999999999999999999", "1e99999999999999999998"), ("0", "1e-999999999999999999999"),
      ("1e99999999999999999999", "1e-99999999999999999999"), ("12", "12e1"), ("1", "1e1000"),
      ("1e99999999999999999999", "1"),
    ])
  func inequality(_ one: String, _ other: String) throws {
    #expect(try JSONNumber(parsing: one) != JSONNumber(parsing: other))
    #expect(try JSONNumber(parsing: other) != JSONNumber(parsing: one))
  }

  @Test(
    "a number is an integer if its value is one",
    arguments: [
      ("1", 1), ("-0", 0), ("1.0", 1), ("1e2", 100), ("1200e-2", 12), ("0.5e1", 5), ("1.5", nil),
      ("1e18", 1_000_000_000_000_000_000), ("1e19", nil), ("-1e18", -1_000_000_000_000_000_000),
      ("9223372036854775807", .max), ("9223372036854775807.0", .max),
      ("-9223372036854775808", .min),
      ("-9223372036854775808.0", .min), ("9223372036854775808", nil), ("1e-1", nil),
      ("1e1000000000", nil), ("0e1000000000", 0), ("1e99999999999999999999", nil),
      ("-922337203685477580.8e1", .min),
    ] as [(String, Int?)])
  func integers(_ text: String, _ expected: Int?) throws {
    #expect(try JSONNumber(parsing: text).int == expected)
    if let expected {
      #expect(try JSON.decode(Int.self, from: Array(text.utf8)) == expected)
    } else {
      let error = #expect(throws: JSONError.self) {
        try JSON.decode(Int.self, from: Array(text.utf8))
      }
      #expect(error?.code == .number)
    }
  }

  @Test("an integer type accepts exactly the numbers in its range")
  func ranges() throws {
    func check<T: FixedWidthInteger & Decodable & Sendable>(_ type: T.Type) throws {
      for value in [T.min, T.max] {
        #expect(try JSON.decode(T.self, from: Array("\(value)".utf8)) == value)
      }
      for text in ["-\(T.max)0", "\(T.max)0"] {
        let error = #expect(throws: JSONError.self) {
          try JSON.decode([T].self, from: Array("[\(text)]".utf8))
        }
        #expect(error?.code == .number && error?.pathDescription == "/0")
      }
    }
    try check(Int8.self)
    try check(Int16.self)
    try check(Int32.self)
    try check(Int64.self)
    try check(Int.self)
    try check(UInt8.self)
    try check(UInt16.self)
    try check(UInt32.self)
    try check(UInt64.self)
    try check(UInt.self)
    try check(Int128.self)
    try check(UInt128.self)
  }

  @Test("a number is converted to the same double as by the C library")
  func doubles() throws {
    var random = SeededGenerator(seed: 1)
    var texts = [
      "0", "-0", "1e22", "1e23", "9007199254740993", "1.7976931348623157e308", "5e-324", "2e-324",
      "2.4703282292062327e-324", "2.4703282292062328e-324", "1e-400",
      "123456789012345678901234567890",
      "0.1", "1.2345e-300", "179769313486231580793728971405301e276", "0e400",
      "2.2250738585072011e-308", "0.000000000000000000000000000000000000000000000000001e51",
    ]
    for _ in 0..<3_000 {
      let digits = String(
        UInt64.random(in: 0 ... .max, using: &random) >> UInt64.random(in: 0..<64, using: &random))
      texts.append(digits + "e\(Int.random(in: -340...290, using: &random))")
      texts.append("0." + digits)
      texts.append(digits + "." + digits)
    }
    for text in texts {
      let expected = strtod(text, nil)
      #expect(try JSONNumber(parsing: text).double == expected, "\(text)")
      #expect(try JSON.decode(Double.self, from: Array(text.utf8)) == expected, "\(text)")
    }
  }

  @Test("a number with thousands of digits is rounded exactly")
  func longDoubles() throws {
    // Exactly halfway between two doubles, then slightly more at a distant digit.
    let half = "9007199254740993." + String(repeating: "0", count: 2_000)
    #expect(try JSONNumber(parsing: half).double == 9_007_199_254_740_992)
    #expect(try JSONNumber(parsing: half + "1").double == 9_007_199_254_740_994)
    let long = String(repeating: "1", count: 100_000)
    #expect(
      try JSONNumber(parsing: long + "e-99999").double == strtod("1.1111111111111111111111", nil))
    #expect(try JSONNumber(parsing: long).double == .infinity)
  }

  @Test("a number too large for `Double` is an error when decoded as `Double`")
  func overflow() throws {
    for text in ["1e309", "-1e309", "1e1000000000", "1e99999999999999999999"] {
      let error = #expect(throws: JSONError.self) {
        try JSON.decode([Double].self, from: Array("[\(text)]".utf8))
      }
      #expect(error?.code == .number && error?.pathDescription == "/0")
    }
    #expect(try JSONNumber(parsing: "-1e309").double == -.infinity)
    #expect(try JSON.decode(Double.self, from: Array("1e-999".utf8)) == 0)
    #expect(throws: JSONError.self) { try JSON.decode(Float.self, from: Array("1e39".utf8)) }
    #expect(try JSON.decode(Float.self, from: Array("0.1".utf8)) == 0.1)
  }

  @Test("the text of a double is as short as possible")
  func shortest() {
    let cases: [(Double, String)] = [
      (0, "0"), (-0.0, "-0"), (1, "1"), (-1, "-1"), (1.5, "1.5"), (100, "100"), (0.1, "0.1"),
      (1e21, "1e+21"), (1e20, "100000000000000000000"), (1e-6, "0.000001"), (1e-7, "1e-7"),
      (123e-9, "1.23e-7"), (.leastNonzeroMagnitude, "5e-324"),
      (1.7976931348623157e308, "1.7976931348623157e+308"),
      (9_007_199_254_740_992, "9007199254740992"), (123456.789, "123456.789"),
      (-1.25e-5, "-0.0000125"), (1e16, "10000000000000000"), (1.5e300, "1.5e+300"),
    ]
    for (value, text) in cases {
      #expect(JSONNumber(value)?.text == text)
      #expect(written { $0.value(value) } == text)
    }
    #expect(JSONNumber(Double.nan) == nil && JSONNumber(-Double.infinity) == nil)
  }

  @Test("the text of each double is read as the same double")
  func roundTrip() throws {
    var random = SeededGenerator(seed: 2)
    for _ in 0..<20_000 {
      let value = Double(bitPattern: random.next())
      guard value.isFinite else { continue }
      let text = written { $0.value(value) }
      #expect(try JSONNumber(parsing: text).double.bitPattern == value.bitPattern, "\(text)")
    }
  }

  @Test("a text that is not a number is refused")
  func parsing() {
    for text in ["", " 1", "1 ", "x", "\"1\"", "1,2", "+1", "null"] {
      #expect(throws: JSONError.self) { try JSONNumber(parsing: text) }
    }
  }
}
