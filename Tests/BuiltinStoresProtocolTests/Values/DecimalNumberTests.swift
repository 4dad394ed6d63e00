// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StatewireJSON
import Testing

@Suite("Decimal numbers")
struct DecimalNumberTests {
  @Test(
    "equal numbers have the same text, however they were written",
    arguments: [
      ("0", "0"), ("-0", "0"), ("0.000", "0"), ("0e200", "0"), ("-0.0e-7", "0"), ("1", "1"),
      ("1.50", "1.5"), ("15e-1", "1.5"), ("0.15E+1", "1.5"), ("-1.5", "-1.5"), ("100", "100"),
      ("1e2", "100"), ("1E2", "100"), ("1e+02", "100"), ("1.00", "1"), ("10.010", "10.01"),
      ("0.001", "0.001"), ("1e-3", "0.001"), ("-12e-3", "-0.012"), ("123.456e1", "1234.56"),
      ("123.456e3", "123456"), ("123.456e5", "12345600"), ("1234567.891", "1234567.891"),
      ("9007199254740993", "9007199254740993"), ("1000000000000000.01", "1000000000000000.01"),
      ("1e-0000000000000000000000000000000002", "0.01"),
    ])
  func text(_ text: String, _ expected: String) throws {
    let number = try #require(DecimalNumber(text))
    #expect(number.description == expected)
    #expect(DecimalNumber(expected) == number)
    #expect(DecimalNumber(text[...]) == number, "a substring must give the same number")
  }

  @Test(
    "a text that is not a JSON number is rejected",
    arguments: [
      "", " ", "-", "+1", "1.", ".5", "-.5", "01", "-01", "00", "1,0", "1 ", " 1", "1\n", "1\u{0}",
      "NaN", "nan", "Infinity", "-Infinity", "inf", "1e", "1e+", "1e1.5", "1e-", "1.e2", "1.2.3",
      "--1", "0x10", "1_000", "$1", "null", "\"1\"", "١", "１", "1\u{301}", "e5", "1f",
    ])
  func junk(_ text: String) { #expect(DecimalNumber(text) == nil) }

  @Test("a number has at most 200 digits, as given and written out")
  func limits() throws {
    let nines = String(repeating: "9", count: 200)
    #expect(try #require(DecimalNumber(nines)).description == nines)
    #expect(try #require(DecimalNumber("-" + nines)).digitCount == 200)
    #expect(DecimalNumber(nines + "9") == nil)
    #expect(DecimalNumber("0." + nines) == nil, "the 0 before the point counts as a digit")
    #expect(DecimalNumber("0." + nines.dropLast()) != nil)
    #expect(DecimalNumber("1." + String(repeating: "0", count: 199)) != nil)
    #expect(
      DecimalNumber("1." + String(repeating: "0", count: 200)) == nil, "the given digits count")
    #expect(try #require(DecimalNumber("1e199")).description.utf8.count == 200)
    #expect(DecimalNumber("1e200") == nil)
    #expect(try #require(DecimalNumber("1e-199")).description.utf8.count == 201)
    #expect(DecimalNumber("1e-200") == nil)
    #expect(DecimalNumber("10000e-201") == nil, "the exponent is out of range")
    for exponent in ["201", "99999999999999999999", String(repeating: "9", count: 1_000_000)] {
      #expect(DecimalNumber("0e\(exponent)") == nil)
      #expect(DecimalNumber("1e-\(exponent)") == nil)
    }
    #expect(DecimalNumber(String(repeating: "0", count: 1_000_000)) == nil)
  }

  @Test(
    "sums and differences are exact",
    arguments: [
      ("0.1", "0.2", "0.3"), ("1", "-1", "0"), ("999", "1", "1000"), ("0.999", "0.001", "1"),
      ("1000", "-0.01", "999.99"), ("-1000", "0.01", "-999.99"), ("0.01", "-1000", "-999.99"),
      ("-5", "-7.5", "-12.5"), ("0", "-3", "-3"), ("1e100", "1e-10", nil),
      ("1000000000000000", "0.01", "1000000000000000.01"), ("12.5", "-12.25", "0.25"),
    ] as [(String, String, String?)])
  func sums(_ one: String, _ other: String, _ expected: String?) throws {
    let (one, other) = (try #require(DecimalNumber(one)), try #require(DecimalNumber(other)))
    let sum = one + other
    #expect(sum == other + one)
    #expect(sum - other == one)
    #expect(sum - one == other)
    #expect(-sum == -one - other)
    if let expected { #expect(sum.description == expected) }
  }

  @Test("a sum may have more digits than a text may have")
  func longSum() throws {
    let sum = try #require(DecimalNumber("1e199")) + #require(DecimalNumber("1e-199"))
    #expect(sum.digitCount == 399)
    #expect(sum.description.hasPrefix("10000"))
    #expect(sum.description.hasSuffix("00001"))
    #expect(DecimalNumber(sum.description) == nil)
  }

  @Test("numbers are ordered by value")
  func order() throws {
    let texts = [
      "-1e50", "-100", "-99.5", "-1.01", "-1", "-0.001", "0", "0.0001", "0.001", "0.5", "1", "1.1",
      "9", "10", "10.000001", "1e50",
    ]
    let numbers = try texts.map { try #require(DecimalNumber($0)) }
    for (i, one) in numbers.enumerated() {
      for (j, other) in numbers.enumerated() {
        #expect((one < other) == (i < j), "\(one) and \(other)")
        #expect((one == other) == (i == j))
      }
    }
  }

  @Test(
    "rounding is to the nearest digit, and half to even",
    arguments: [
      ("0.125", 2, "0.12"), ("0.135", 2, "0.14"), ("1.005", 2, "1"), ("2.675", 2, "2.68"),
      ("2.665", 2, "2.66"), ("0.1250000001", 2, "0.13"), ("0.1249999999", 2, "0.12"),
      ("-0.125", 2, "-0.12"), ("-0.135", 2, "-0.14"), ("-0.004", 2, "0"), ("0.005", 2, "0"),
      ("0.006", 2, "0.01"), ("0.0051", 2, "0.01"), ("0.0009", 2, "0"), ("0.00000001", 2, "0"),
      ("0.015", 2, "0.02"), ("9.995", 2, "10"), ("99.999", 2, "100"), ("1.5", 2, "1.5"),
      ("7", 2, "7"), ("0", 2, "0"), ("2.5", 0, "2"), ("3.5", 0, "4"), ("0.5", 0, "0"),
      ("1e20", 0, "100000000000000000000"), ("1000000000000000.01", 2, "1000000000000000.01"),
      ("1000000000000000.015", 2, "1000000000000000.02"),
    ])
  func rounding(_ text: String, _ places: Int, _ expected: String) throws {
    #expect(try #require(DecimalNumber(text)).rounded(toPlaces: places).description == expected)
  }

  @Test("a number is a string in JSON")
  func coding() throws {
    let number = try JSON.decode(DecimalNumber.self, from: Array("\"1.50e1\"".utf8))
    #expect(number.description == "15")
    #expect(String(decoding: number.jsonBytes(), as: UTF8.self) == "\"15\"")
    #expect(try JSON.encode([number]) == Array("[\"15\"]".utf8))
    for text in ["1.5", "null", "\"\"", "\"NaN\"", "\" 1\"", "[]"] {
      let error = #expect(throws: JSONError.self) {
        try JSON.decode([String: DecimalNumber].self, from: Array(#"{"amount":\#(text)}"#.utf8))
      }
      #expect(error?.pathDescription == "/amount")
    }
  }

  @Test(
    "sums of random cents agree with integer arithmetic", arguments: 1...20 as ClosedRange<UInt64>)
  func random(_ seed: UInt64) throws {
    var state = seed
    func cents() -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(Int32(truncatingIfNeeded: state >> 31)) >> Int(state >> 59)
    }
    func number(_ cents: Int) throws -> DecimalNumber {
      try #require(DecimalNumber("\(cents)e-2"))
    }
    var (sum, expected) = (DecimalNumber.zero, 0)
    for _ in 0..<200 {
      let (one, other) = (cents(), cents())
      #expect(try number(one) + number(other) == number(one + other))
      #expect(try (number(one) < number(other)) == (one < other))
      sum += try number(one)
      expected += one
    }
    #expect(try sum == number(expected))
  }
}
