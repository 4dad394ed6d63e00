// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import StatewireProtocol
import Testing

@Suite("Seconds")
struct SecondsTests {
  @Test(
    "seconds are read with nanosecond precision",
    arguments: [
      ("0", 0), ("-0", 0), ("-0.00", 0), ("0e9", 0), ("1", 1_000_000_000), ("1.0", 1_000_000_000),
      ("0.1", 100_000_000), ("0.3", 300_000_000), ("1e-9", 1), ("0.000000001", 1),
      ("123.456789012", 123_456_789_012), ("1.5E+1", 15_000_000_000), ("100e-2", 1_000_000_000),
      // The usual rounding errors of sums of doubles disappear.
      ("0.30000000000000004", 300_000_000), ("0.09999999999999998", 100_000_000),
      ("0.0000000005", 1), ("0.0000000004999999999", 0), ("5e-11", 0), ("1e-400", 0),
      ("0.\(String(repeating: "0", count: 5_000))1", 0),
      ("1\(String(repeating: "0", count: 400))e-400", 1_000_000_000),
      ("0.\(String(repeating: "0", count: 400))1e401", 1_000_000_000),
      ("1000000000", 1_000_000_000_000_000_000), ("1e9", 1_000_000_000_000_000_000),
    ])
  func reading(text: String, nanoseconds: Int) throws {
    let seconds = try JSON.decode(Seconds.self, from: Array(text.utf8))
    #expect(seconds.duration == .nanoseconds(nanoseconds))
  }

  @Test(
    "seconds that are negative, too large or not a number are refused",
    arguments: [
      ("-1", .value), ("-1e-30", .value), ("1000000000.000000001", .value), ("1e10", .value),
      ("1e400", .value), ("1e99999999999999999999999", .value),
      ("\(String(repeating: "9", count: 5_000))", .value), ("\"1\"", .type), ("null", .type),
      ("[1]", .type), ("NaN", .syntax), ("Infinity", .syntax), ("+1", .syntax), (".5", .syntax),
    ] as [(String, JSONError.Code)])
  func refusing(text: String, code: JSONError.Code) {
    let error = #expect(throws: JSONError.self) {
      try JSON.decode(Seconds.self, from: Array(text.utf8))
    }
    #expect(error?.code == code)
  }

  @Test(
    "seconds are written as plain decimal numbers",
    arguments: [
      (0, "0"), (1, "0.000000001"), (300_000_000, "0.3"), (1_000_000_000, "1"),
      (10_050_000_000, "10.05"), (1_000_000_000_000_000_000, "1000000000"),
    ])
  func writing(nanoseconds: Int, text: String) throws {
    let seconds = Seconds(.nanoseconds(nanoseconds))
    #expect(String(decoding: seconds.jsonBytes(), as: UTF8.self) == text)
    #expect(
      try JSON.decode([Seconds].self, from: JSON.encode([seconds, seconds])) == [seconds, seconds])
  }

  @Test("a duration outside the range of the wire is clamped")
  func clamping() {
    #expect(Seconds(.seconds(-1)).duration == .zero)
    #expect(Seconds(.nanoseconds(-1)).duration == .zero)
    #expect(Seconds(.seconds(Int64.max)).duration == .seconds(Seconds.maximum))
    #expect(
      Seconds(Duration(secondsComponent: 1, attosecondsComponent: 1_999_999_999)).duration
        == .nanoseconds(1_000_000_001))
  }

  @Test("other coders read and write seconds as numbers")
  func foreign() throws {
    struct Foreign: Codable {
      var value: Seconds
      init(_ value: Seconds) { self.value = value }
      init(from decoder: any Decoder) throws { value = try Seconds(from: decoder) }
      func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
    }
    let seconds = Seconds(.milliseconds(1_500))
    #expect(try JSON.encode(Foreign(seconds)) == Array("1.5".utf8))
    #expect(try JSON.decode(Foreign.self, from: Array("1.5".utf8)).value == seconds)
    #expect(throws: JSONError.self) { try JSON.decode(Foreign.self, from: Array("-1".utf8)) }
  }
}
