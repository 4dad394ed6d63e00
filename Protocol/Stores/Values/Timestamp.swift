// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A time in UTC with a precision of one second.
///
/// - Shape: a JSON string, `"2021-06-02T11:01:48Z"`.
/// - Units: years 0000 to 9999 of the Gregorian calendar; leap seconds are not counted.
public struct Timestamp: Hashable, Sendable {
  /// The number of seconds since 1970-01-01T00:00:00Z.
  public let secondsSinceEpoch: Int

  /// Creates the time this many seconds after 1970-01-01T00:00:00Z, clamped to the years 0000 to
  /// 9999.
  public init(secondsSinceEpoch: Int) {
    self.secondsSinceEpoch = min(max(secondsSinceEpoch, Self.earliest), Self.latest)
  }

  /// Creates a time from a duration since 1970-01-01T00:00:00Z, rounded down to seconds and clamped
  /// to the years 0000 to 9999.
  public init(sinceEpoch: Duration) {
    // The duration is clamped first, because the components of larger durations may overflow.
    let limits = (earliest: Duration.seconds(Self.earliest), latest: Duration.seconds(Self.latest))
    let (seconds, attoseconds) = min(max(sinceEpoch, limits.earliest), limits.latest).components
    self.init(secondsSinceEpoch: Int(seconds) - (attoseconds < 0 ? 1 : 0))
  }

  /// The duration since 1970-01-01T00:00:00Z.
  public var sinceEpoch: Duration { .seconds(secondsSinceEpoch) }

  // 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
  private static let earliest = -62_167_219_200
  private static let latest = 253_402_300_799
}

extension Timestamp: Comparable {
  /// Returns true if the first time is earlier.
  public static func < (one: Timestamp, other: Timestamp) -> Bool {
    one.secondsSinceEpoch < other.secondsSinceEpoch
  }
}

// MARK: - Text

extension Timestamp {
  /// Parses a text like "2021-06-02T11:01:48Z" or "2021-06-02T13:01:48+02:00"; nil for any other
  /// text.
  ///
  /// - Source: RFC 3339 §5.6, without fractions of a second and only with capital letters.
  public init?(iso8601 text: some StringProtocol) {
    self.init(text, as: "dddd-dd-ddTdd:dd:dd", zone: ["Z", "sdd:dd"])
  }

  /// Parses a text like "2021-06-02 11:01:48 +0000" or "2021-06-02 11:01:48 Z"; nil for any other
  /// text.
  public init?(_ text: some StringProtocol) {
    self.init(text, as: "dddd-dd-dd dd:dd:dd ", zone: ["Z", "sdddd"])
  }

  /// Parses a text of a fixed form.
  ///
  /// - Parameters:
  ///   - form: The form of the date and time: `d` for a digit, any other character for itself.
  ///   - zones: The forms of the zone; `s` is a sign.
  private init?(_ text: some StringProtocol, as form: StaticString, zone zones: [StaticString]) {
    let length = form.utf8CodeUnitCount
    // No form is longer than 32 bytes.
    let bytes = Array(text.utf8.prefix(32))
    guard bytes.count > length, let numbers = FixedForm.digits(of: bytes[..<length], as: form),
      let offset = zones.lazy.compactMap({ Self.offset(bytes[length...], as: $0) }).first
    else { return nil }
    func number(_ range: Range<Int>) -> Int { numbers[range].reduce(0) { $0 * 10 + $1 } }
    let time = CivilTime(
      year: number(0..<4), month: number(4..<6), day: number(6..<8), hour: number(8..<10),
      minute: number(10..<12), second: number(12..<14))
    guard let time else { return nil }
    let seconds = time.seconds - offset
    self.init(secondsSinceEpoch: seconds)
    // A zone offset can move the first and the last hours out of the range.
    guard secondsSinceEpoch == seconds else { return nil }
  }

  /// Parses a zone.
  ///
  /// - Units: seconds east of Greenwich.
  private static func offset(_ bytes: ArraySlice<UInt8>, as form: StaticString) -> Int? {
    guard let numbers = FixedForm.digits(of: bytes, as: form) else { return nil }
    guard numbers.count == 4 else { return 0 }
    let (hours, minutes) = (numbers[0] * 10 + numbers[1], numbers[2] * 10 + numbers[3])
    guard hours < 24, minutes < 60 else { return nil }
    let seconds = hours * 3600 + minutes * 60
    return bytes.first == UInt8(ascii: "-") ? -seconds : seconds
  }
}

extension Timestamp: CustomStringConvertible {
  /// The time as in JSON: "2021-06-02T11:01:48Z".
  public var description: String {
    let time = CivilTime(seconds: secondsSinceEpoch)
    return FixedForm.text(
      "dddd-dd-ddTdd:dd:ddZ", time.year, time.month, time.day, time.hour, time.minute, time.second)
  }
}

// MARK: - JSON

extension Timestamp: Codable, JSONReadable, JSONWritable {
  private static var unusable: String { "expected a time like 2021-06-02T11:01:48Z" }

  /// Decodes the value from JSON; the type documents its shape.
  ///
  /// - Throws: `DecodingError` or `JSONError` with the path of the fault.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let time = Timestamp(iso8601: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: Self.unusable)
    }
    self = time
  }

  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    let start = reader.nextValueOffset()
    guard let time = Timestamp(iso8601: try reader.readString()) else {
      throw reader.error(.value, Self.unusable, at: start)
    }
    self = time
  }

  /// Encodes the value as JSON; the type documents its shape.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// Writes the value as JSON; the type documents its shape.
  public func write(to writer: inout JSONWriter) { writer.value(description) }
}

extension Timestamp: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .string(
      pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})$",
      example: "2021-06-02T11:01:48Z")
  }
}
