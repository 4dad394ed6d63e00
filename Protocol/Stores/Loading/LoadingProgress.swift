// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The progress of one load, which a loader reports until the load has ended.
///
/// - Shape: `{"percent": 0…100|null, "message": String|null, "isCancelled": Bool}`. When read,
///   absent members are null or false, and the percentage is rounded down and clamped.
/// - Units: `percent` is a whole number of percent, 0 to 100.
public struct LoadingProgress: Hashable, Sendable {
  /// The percentage done, clamped to 0 to 100; nil if unknown.
  public var percent: Int? {
    didSet { percent = percent.map(Self.clamped) }
  }
  /// A message for users about the current step.
  public var message: String?
  /// True once loading was cancelled, until the loader is reset.
  public var isCancelled: Bool

  /// Creates progress; clamps `percent` to 0 to 100.
  public init(percent: Int? = nil, message: String? = nil, isCancelled: Bool = false) {
    self.percent = percent.map(Self.clamped)
    self.message = message
    self.isCancelled = isCancelled
  }

  /// Creates progress from an amount in any unit, for example bytes.
  ///
  /// - Parameters:
  ///   - completed: The amount done.
  ///   - total: The total amount; the percentage is unknown if this is nil or not positive.
  public init(completed: Int, of total: Int?) {
    self.init()
    guard let total, total > 0 else { return }
    let completed = min(max(completed, 0), total)
    let (high, low) = completed.multipliedFullWidth(by: 100)
    percent = total.dividingFullWidth((high, low)).quotient
  }

  private static func clamped(_ percent: Int) -> Int { min(max(percent, 0), 100) }
}

extension LoadingProgress {
  // The message by bytes, as that of `LoadingFailure`.

  /// Returns true if both have the same percent, message and cancellation.
  public static func == (one: LoadingProgress, other: LoadingProgress) -> Bool {
    guard one.percent == other.percent, one.isCancelled == other.isCancelled else { return false }
    return switch (one.message, other.message) {
    case (nil, nil): true
    case (let own?, let message?): own.hasSameBytes(as: message)
    default: false
    }
  }

  /// Hashes the percent, the bytes of the message, and the cancellation.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(percent)
    hasher.combine(isCancelled)
    hasher.combine(message?.utf8.count)
    message?.withUTF8Bytes { hasher.combine(bytes: $0) }
  }
}

extension LoadingProgress: Codable, JSONReadable, JSONWritable {
  private enum CodingKeys: String, CodingKey {
    case percent, message, isCancelled
  }

  /// Decodes the value from JSON; the type documents its shape.
  ///
  /// - Throws: `DecodingError` or `JSONError` with the path of the fault.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      percent: try container.decodeIfPresent(Double.self, forKey: .percent).map(Self.percent),
      message: try container.decodeIfPresent(String.self, forKey: .message),
      isCancelled: try container.decodeIfPresent(Bool.self, forKey: .isCancelled) ?? false)
  }

  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    var percent: Double?
    var message: String?
    var isCancelled: Bool?
    try reader.beginObject()
    while let key = try reader.nextKey() {
      switch key {
      case "percent": percent = try reader.readIfPresent()
      case "message": message = try reader.readIfPresent()
      case "isCancelled": isCancelled = try reader.readIfPresent()
      default: try reader.skipValue()
      }
    }
    self.init(
      percent: percent.map(Self.percent), message: message, isCancelled: isCancelled ?? false)
  }

  /// Converts a number to a percentage; JSON has only finite numbers.
  private static func percent(_ number: Double) -> Int {
    Int(min(max(number, 0), 100).rounded(.down))
  }

  /// Encodes the value as JSON; the type documents its shape.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(percent, forKey: .percent)
    try container.encode(message, forKey: .message)
    try container.encode(isCancelled, forKey: .isCancelled)
  }

  /// Writes the value as JSON; the type documents its shape.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("percent")
    writer.value(percent)
    writer.key("message")
    writer.value(message)
    writer.key("isCancelled")
    writer.value(isCancelled)
    writer.endObject()
  }
}

extension LoadingProgress: JSONDescribed {
  // The schema for reading is more lenient than the schema for writing.
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    guard schemas.isWritten else {
      return .object([
        .optional("percent", .number()), .optional("message", .string()),
        .optional("isCancelled", .boolean),
      ])
    }
    return .object([
      .member("percent", JSONSchema.integer(minimum: 0, maximum: 100).orNull),
      .member("message", JSONSchema.string().orNull), .member("isCancelled", .boolean),
    ])
  }
}
