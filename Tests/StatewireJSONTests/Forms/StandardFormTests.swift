// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireJSON
import Testing

/// Checks the form of a value, that it is read from its form, and that it is read from others.
private func check<T: Codable & Equatable>(
  _ value: T, _ form: String, alsoFrom others: String...,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  #expect(try JSON.encode(value).text == form, sourceLocation: sourceLocation)
  for text in [form] + others {
    #expect(
      try JSON.decode(T.self, from: Array(text.utf8)) == value, "\(text)",
      sourceLocation: sourceLocation)
    // Also as an element, as a member, and in an optional.
    #expect(
      try JSON.decode([T].self, from: Array("[\(text)]".utf8)) == [value],
      sourceLocation: sourceLocation)
    #expect(
      try JSON.decode(Holder<T>.self, from: Array(#"{"value":\#(text)}"#.utf8)).value == value,
      sourceLocation: sourceLocation)
  }
  #expect(
    try JSON.encode(Holder(value: value)).text == #"{"value":\#(form)}"#,
    sourceLocation: sourceLocation)
  #expect(try JSON.encode([T?.some(value), nil]).text == "[\(form),null]")
}

private struct Holder<Value: Codable>: Codable { var value: Value }

/// Checks that texts are refused, and returns the error of the last one.
@discardableResult
private func refuse<T: Decodable>(
  _ type: T.Type, _ texts: String..., sourceLocation: SourceLocation = #_sourceLocation
) -> JSONError? {
  var last: JSONError?
  for text in texts {
    last = #expect(throws: JSONError.self, "\(text)", sourceLocation: sourceLocation) {
      try JSON.decode(T.self, from: Array(text.utf8))
    }
  }
  return last
}

@Suite("Forms of standard types", .timeLimit(.minutes(15)))
struct StandardFormTests {
  @Test("a date is ISO 8601 in UTC, read with any fraction and offset")
  func dates() throws {
    func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }
    try check(
      date(1_795_690_219), #""2026-11-26T10:50:19Z""#, alsoFrom: #""2026-11-26T11:50:19+01:00""#,
      #""2026-11-26T10:50:19.000000000000000000000Z""#, #""2026-11-26 05:20:19-0530""#,
      #""2026-11-26t09:50:19-01""#)
    try check(date(1_795_690_219.25), #""2026-11-26T10:50:19.25Z""#)
    try check(date(0.5), #""1970-01-01T00:00:00.5Z""#)
    try check(date(-0.5), #""1969-12-31T23:59:59.5Z""#)
    try check(date(951_782_400), #""2000-02-29T00:00:00Z""#)
    // Foundation names this date 0001-01-01, by the Julian calendar.
    try check(Date.distantPast, #""0000-12-30T00:00:00Z""#)
    try check(Date.distantFuture, #""4001-01-01T00:00:00Z""#)
    try check(date(253_402_300_799), #""9999-12-31T23:59:59Z""#)
    try check(
      date(-62_167_219_200), #""0000-01-01T00:00:00Z""#,
      alsoFrom: #""0000-01-01T00:00:00+00:00""#)
    try check(date(1_483_228_800), #""2017-01-01T00:00:00Z""#, alsoFrom: #""2016-12-31T23:59:60Z""#)
    let error = refuse(
      Date.self, #""2026-11-26T10:50:19""#, #""2026-02-29T00:00:00Z""#, #""2026-11-26""#, #""""#,
      #""2026-13-01T00:00:00Z""#, #""2026-11-26T24:00:00Z""#, #""2026-11-26T10:50:19.Z""#,
      #""2026-11-26T10:50:19Zx""#, #""2026-11-26T10:50:19+25:00""#, "790599419", "null",
      #""today""#)
    #expect(error?.message.contains("2026-11-26T10:50:19Z") == true)
    for wrong in [Date(timeIntervalSinceReferenceDate: .infinity), date(1e12), date(-1e11)] {
      let error = #expect(throws: JSONError.self) { try JSON.encode([Holder(value: wrong)]) }
      #expect(error?.pathDescription == "/0/value")
    }
  }

  @Test("dates of any fraction are read as the same date")
  func fractions() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      // Around 2001-01-01, where `Date` counts from, a date may have finer digits than nine.
      let years = Bool.random(using: &random) ? 1.1e9...4e9 : -4e9...0.9e9
      let seconds = Double.random(in: years, using: &random)
      let isRounded = Bool.random(using: &random)
      let date = Date(timeIntervalSince1970: isRounded ? (seconds * 1e3).rounded() / 1e3 : seconds)
      let bytes = try JSON.encode(date)
      #expect(try JSON.decode(Date.self, from: bytes) == date, "\(bytes.text)")
      #expect(bytes.text.utf8.count <= 32)
    }
  }

  @Test("dates agree with the calendar of Foundation")
  func calendar() throws {
    let style = Date.ISO8601FormatStyle()
    // Before 1582, Foundation uses the Julian calendar.
    for day in stride(from: -141_000, through: 2_900_000, by: 331) {
      let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 3_723)
      #expect(try JSON.encode(date).text == "\"\(date.formatted(style))\"")
    }
  }

  @Test("a UUID, a URL, a locale and a time zone are strings")
  func strings() throws {
    let text = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
    try check(
      try #require(UUID(uuidString: text)), "\"\(text)\"", alsoFrom: "\"\(text.lowercased())\"")
    refuse(UUID.self, #""""#, #""E621E1F8""#, "1")
    try check(
      try #require(URL(string: "https://example.com/a?b=c#d")), #""https://example.com/a?b=c#d""#,
      alsoFrom: #"{"relative":"https://example.com/a?b=c#d"}"#)
    let relative = URL(string: "a", relativeTo: URL(string: "https://example.com/"))
    #expect(try JSON.encode(relative).text == #""https://example.com/a""#)
    refuse(URL.self, #""""#, "1")
    try check(Locale(identifier: "de_DE"), #""de_DE""#)
    try check(try #require(TimeZone(identifier: "Europe/Berlin")), #""Europe/Berlin""#)
    refuse(TimeZone.self, #""Europe/Nowhere""#)
  }

  @Test("data is Base64")
  func data() throws {
    try check(Data([0, 1, 254, 255]), #""AAH+/w==""#, alsoFrom: "[0,1,254,255]")
    try check(Data(), #""""#, alsoFrom: "[]")
    refuse(Data.self, #""AAH""#, #""AAH-_w==""#, #""*""#, "1")
    try check([1, 2] as [UInt8], "[1,2]")
  }

  @Test("a decimal is a string of plain digits, read from a number too")
  func decimals() throws {
    func decimal(_ text: String) throws -> Decimal { try #require(Decimal(string: text)) }
    try check(try decimal("19.99"), #""19.99""#, alsoFrom: "19.99", "1999e-2", #""19.990""#)
    try check(Decimal(0), #""0""#, alsoFrom: "0", "-0", "0.0e5")
    try check(try decimal("-0.1"), #""-0.1""#)
    try check(
      try decimal("99999999999999999999999999999999999999"),
      #""99999999999999999999999999999999999999""#)
    try check(
      Decimal(sign: .plus, exponent: -127, significand: 1),
      "\"0.\(String(repeating: "0", count: 126))1\"", alsoFrom: "1e-127")
    try check(Decimal.greatestFiniteMagnitude, "\"\(Decimal.greatestFiniteMagnitude)\"")
    refuse(
      Decimal.self, #""""#, #""1,5""#, #""12abc""#, #""NaN""#, "true", "1e200", "1e-300",
      "1234567890123456789012345678901234567890123", #"" 1""#, #""+1""#,
      "1.\(String(repeating: "1", count: 600))")
    #expect(throws: JSONError.self) { try JSON.encode(Decimal.nan) }
    // The form of Foundation.
    let words =
      #"{"exponent":-2,"length":1,"isNegative":false,"isCompact":true,"mantissa":[1999,0,0,0,0,0,0,0]}"#
    #expect(try JSON.decode(Decimal.self, from: Array(words.utf8)) == decimal("19.99"))
  }

  @Test("a duration is its seconds, exact to the attosecond")
  func durations() throws {
    try check(Duration.milliseconds(1500), #""1.5""#, alsoFrom: "1.5", "15e-1", #""1.50""#)
    try check(Duration.zero, #""0""#, alsoFrom: "0", "[0,0]")
    try check(Duration(attoseconds: 1), #""0.000000000000000001""#, alsoFrom: "1e-18")
    try check(Duration(attoseconds: -1_000_000_000_000_000_001), #""-1.000000000000000001""#)
    try check(Duration(attoseconds: .max), #""170141183460469231731.687303715884105727""#)
    try check(Duration(attoseconds: .min), #""-170141183460469231731.687303715884105728""#)
    refuse(
      Duration.self, #""""#, #""1s""#, "1e-19", "1e30",
      #""170141183460469231731.687303715884105728""#)
  }

  @Test("integers of 128 bits are strings, others are numbers")
  func integers() throws {
    try check(Int128.min, #""-170141183460469231731687303715884105728""#)
    try check(UInt128.max, #""340282366920938463463374607431768211455""#)
    try check(Int128(5), #""5""#, alsoFrom: "5")
    refuse(UInt128.self, #""-1""#, #""1.5""#, #""340282366920938463463374607431768211456""#, "-1")
    try check(Int64.min, "-9223372036854775808")
    try check(UInt64.max, "18446744073709551615")
    try check(Float16(1.5), "1.5")
    try check(CGFloat(1.5), "1.5")
  }

  @Test("a range is an object of its bounds")
  func ranges() throws {
    try check(1..<3, #"{"lowerBound":1,"upperBound":3}"#, alsoFrom: "[1,3]")
    try check(
      "a"..."b", #"{"lowerBound":"a","upperBound":"b"}"#,
      alsoFrom: #"{"upperBound":"b","lowerBound":"a"}"#)
    try check(
      Date(timeIntervalSince1970: 0)..<Date(timeIntervalSince1970: 1),
      #"{"lowerBound":"1970-01-01T00:00:00Z","upperBound":"1970-01-01T00:00:01Z"}"#)
    #expect(try JSON.encode(PartialRangeFrom(1)).text == #"{"lowerBound":1}"#)
    #expect(try JSON.encode(PartialRangeUpTo(1)).text == #"{"upperBound":1}"#)
    #expect(try JSON.encode(PartialRangeThrough(1)).text == #"{"upperBound":1}"#)
    func read<T: Decodable>(_ type: T.Type, _ text: String) throws -> T {
      try JSON.decode(type, from: Array(text.utf8))
    }
    #expect(try read(PartialRangeFrom<Int>.self, #"{"lowerBound":1}"#).lowerBound == 1)
    #expect(try read(PartialRangeFrom<Int>.self, "[1]").lowerBound == 1)
    #expect(try read(PartialRangeUpTo<Int>.self, #"{"upperBound":1}"#).upperBound == 1)
    #expect(try read(PartialRangeThrough<Int>.self, #"{"upperBound":1}"#).upperBound == 1)
    refuse(Range<Int>.self, #"{"lowerBound":3,"upperBound":1}"#, #"{"lowerBound":3}"#, "[3,1]")
    let error = #expect(throws: JSONError.self) { try JSON.encode([0.0..<Double.infinity]) }
    #expect(error?.pathDescription == "/0/upperBound")
  }

  @Test("other types of Foundation have the form of their members")
  func members() throws {
    try check(
      DateInterval(start: Date(timeIntervalSince1970: 0), duration: 5),
      #"{"start":"1970-01-01T00:00:00Z","duration":5}"#)
    try check(SIMD3<Float>(1, 2, 3), "[1,2,3]")
    refuse(SIMD3<Float>.self, "[1,2]", "[1,2,3,4]")
    try check(IndexPath(indexes: [1, 2]), #"{"indexes":[1,2]}"#)
    var components = DateComponents()
    components.year = 2026
    #expect(
      try JSON.decode(DateComponents.self, from: JSON.encode(components)) == components)
    let calendar = Calendar(identifier: .gregorian)
    #expect(try JSON.decode(Calendar.self, from: JSON.encode(calendar)) == calendar)
    let length = Measurement(value: 3, unit: UnitLength.meters)
    #expect(try JSON.decode(Measurement<UnitLength>.self, from: JSON.encode(length)) == length)
    let set: IndexSet = [1, 2, 5]
    #expect(try JSON.decode(IndexSet.self, from: JSON.encode(set)) == set)
  }
}
