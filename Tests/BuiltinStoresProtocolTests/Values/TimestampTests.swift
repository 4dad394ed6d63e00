// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StatewireJSON
import Testing

@Suite("Timestamps")
struct TimestampTests {
  @Test(
    "seconds since 1970 and the text of a time agree",
    arguments: [
      (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"), (86_400, "1970-01-02T00:00:00Z"),
      (951_782_400, "2000-02-29T00:00:00Z"), (951_868_799, "2000-02-29T23:59:59Z"),
      (951_868_800, "2000-03-01T00:00:00Z"), (1_622_631_708, "2021-06-02T11:01:48Z"),
      (1_709_164_800, "2024-02-29T00:00:00Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
      (-2_203_891_200, "1900-03-01T00:00:00Z"), (-11_671_084_800, "1600-02-28T00:00:00Z"),
      (-62_167_219_200, "0000-01-01T00:00:00Z"), (253_402_300_799, "9999-12-31T23:59:59Z"),
    ])
  func texts(_ seconds: Int, _ text: String) {
    #expect(Timestamp(secondsSinceEpoch: seconds).description == text)
    #expect(Timestamp(iso8601: text)?.secondsSinceEpoch == seconds)
  }

  @Test("numbers fill the places of a form with their last digits")
  func forms() {
    #expect(FixedForm.text("dddd-dd:d", 21, 7, 48) == "0021-07:8")
    #expect(FixedForm.text("at dd, d", 2021, 0) == "at 21, 0")
    #expect(FixedForm.text("none") == "none")
    #expect(FixedForm.text("dd/d", -1, .min) == "01/8")
  }

  @Test(
    "each day of a year follows the previous one",
    arguments: [0, 1600, 1700, 1899, 1900, 1969, 1970, 2000, 2001, 2020, 2024, 2100, 2400, 9999])
  func days(_ year: Int) throws {
    func padded(_ number: Int, _ width: Int = 2) -> String {
      String(("0000" + "\(number)").suffix(width))
    }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    var expected = try #require(Timestamp(iso8601: "\(padded(year, 4))-01-01T12:34:56Z"))
    for (month, length) in zip(1..., lengths) {
      let start = "\(padded(year, 4))-\(padded(month))-"
      for day in 1...length {
        let text = "\(start)\(padded(day))T12:34:56Z"
        #expect(Timestamp(iso8601: text) == expected)
        #expect(expected.description == text)
        expected = Timestamp(secondsSinceEpoch: expected.secondsSinceEpoch + 86_400)
      }
      #expect(Timestamp(iso8601: "\(start)\(length + 1)T00:00:00Z") == nil)
    }
  }

  @Test(
    "a time with an offset is converted to UTC",
    arguments: [
      ("2021-06-02T13:01:48+02:00", "2021-06-02T11:01:48Z"),
      ("2021-06-01T23:31:48-11:30", "2021-06-02T11:01:48Z"),
      ("2021-01-01T00:30:00+01:00", "2020-12-31T23:30:00Z"),
    ])
  func zones(_ text: String, _ expected: String) {
    #expect(Timestamp(iso8601: text)?.description == expected)
  }

  @Test(
    "formats that services write are accepted",
    arguments: [
      ("2021-06-02 11:01:48 +0000", "2021-06-02T11:01:48Z"),
      ("2021-06-02 11:01:48 Z", "2021-06-02T11:01:48Z"),
      ("2021-06-02 13:01:48 +0200", "2021-06-02T11:01:48Z"),
      ("2021-06-02 07:31:48 -0330", "2021-06-02T11:01:48Z"),
      ("2021-06-02 00:00:00 +2359", "2021-06-01T00:01:00Z"),
    ])
  func services(_ text: String, _ expected: String) {
    #expect(Timestamp(text)?.description == expected)
  }

  @Test(
    "any other text is rejected",
    arguments: [
      "", "Z", "2021-06-02", "2021-06-02 11:01:48", "2021-06-02 11:01:48 ",
      "2021-06-02 11:01:48Z", "2021-06-02 11:01:48 +02:00", "2021-06-02 11:01:48 +2400",
      "2021-06-02 11:01:48 +0260", "2021-06-02 11:01:48 UTC", "2021-06-02 11:01:48 0200",
      "2021-06-02  11:01:48 Z", "2021-06-02 11:01:48 Z ", " 2021-06-02 11:01:48 Z",
      "2021-6-2 11:01:48 Z", "21-06-02 11:01:48 Z", "2021-02-29 11:01:48 Z",
      "2021-04-31 11:01:48 Z", "2021-13-01 11:01:48 Z", "2021-00-01 11:01:48 Z",
      "2021-06-00 11:01:48 Z", "2021-06-02 24:00:00 Z", "2021-06-02 11:60:00 Z",
      "2021-06-02 11:01:60 Z", "+021-06-02 11:01:48 Z", "0000-01-01 00:00:00 +0100",
      "9999-12-31 23:59:59 -0100", "２021-06-02 11:01:48 Z", "2021-06-02T11:01:48Z",
    ])
  func junk(_ text: String) { #expect(Timestamp(text) == nil) }

  @Test(
    "the ISO 8601 reader rejects any other text",
    arguments: [
      "", "2021-06-02", "2021-06-02T11:01:48", "2021-06-02 11:01:48Z", "2021-06-02t11:01:48z",
      "2021-06-02T11:01:48.5Z", "2021-06-02T11:01:48+0200", "2021-06-02T11:01:48 Z",
      "2021-06-02T11:01:48Z ", "2021-06-02T25:01:48Z", "2021-06-02T11:01:48+24:00",
      "20210602T110148Z", "2021-06-02 11:01:48 Z",
    ])
  func isoJunk(_ text: String) { #expect(Timestamp(iso8601: text) == nil) }

  @Test(
    "fractions of a second are rounded down",
    arguments: [
      (Duration.milliseconds(1999), 1), (.milliseconds(-1), -1), (.milliseconds(-1000), -1),
      (.milliseconds(-1001), -2), (.zero, 0), (.seconds(7), 7), (.nanoseconds(999_999_999), 0),
    ])
  func seconds(_ duration: Duration, _ expected: Int) {
    let time = Timestamp(sinceEpoch: duration)
    #expect(time.secondsSinceEpoch == expected)
    #expect(time.sinceEpoch == .seconds(expected))
  }

  @Test("a time outside the representable range becomes the nearest one in it")
  func limits() {
    #expect(Timestamp(sinceEpoch: .seconds(Int64.max)).description == "9999-12-31T23:59:59Z")
    #expect(Timestamp(sinceEpoch: .seconds(Int64.min)).description == "0000-01-01T00:00:00Z")
    let far = Duration.seconds(Int64.max) * 2
    #expect(Timestamp(sinceEpoch: far) == Timestamp(secondsSinceEpoch: .max))
    #expect(Timestamp(sinceEpoch: .zero - far) == Timestamp(secondsSinceEpoch: .min))
    #expect(Timestamp(secondsSinceEpoch: .max) == Timestamp(secondsSinceEpoch: .max - 1))
    #expect(Timestamp(secondsSinceEpoch: .min) < Timestamp(secondsSinceEpoch: .max))
  }

  @Test("a time is a string in JSON")
  func coding() throws {
    let text = Array("\"2021-06-02T11:01:48Z\"".utf8)
    let time = try JSON.decode(Timestamp.self, from: text)
    #expect(time == Timestamp(secondsSinceEpoch: 1_622_631_708))
    #expect(time.jsonBytes() == text)
    #expect(try JSON.encode(["date": time]) == Array(#"{"date":"2021-06-02T11:01:48Z"}"#.utf8))
    for text in ["1622631708", "null", "\"2021-06-02\"", "\"\""] {
      let error = #expect(throws: JSONError.self) {
        try JSON.decode([String: Timestamp].self, from: Array(#"{"date":\#(text)}"#.utf8))
      }
      #expect(error?.pathDescription == "/date")
    }
  }
}
