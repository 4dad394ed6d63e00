// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// How far a load has come.
///
/// - Shape: `{"percent": 0…100|null, "message": String|null, "isCancelled": Bool}`; read leniently:
///   absent members are null and false, a percent is rounded down and clamped.
/// - Units: `percent` is whole per cents, 0 to 100.
public struct LoadingProgress: Hashable, Sendable {
  /// How much is done; nil if nobody knows. Clamped to 0…100.
  public var percent: Int? {
    didSet { percent = percent.map(Self.clamped) }
  }
  /// What is being done, for people.
  public var message: String?
  /// Whether the load was cancelled, and waits to be reset.
  public var isCancelled: Bool

  public init(percent: Int? = nil, message: String? = nil, isCancelled: Bool = false) {
    self.percent = percent.map(Self.clamped)
    self.message = message
    self.isCancelled = isCancelled
  }

  /// Progress counted in whatever units, bytes say.
  ///
  /// - Parameters:
  ///   - completed: How much is done.
  ///   - total: How much there is in all; the percent is unknown if this is nil or not positive.
  public init(completed: Int, of total: Int?) {
    self.init()
    guard let total, total > 0 else { return }
    let completed = min(max(completed, 0), total)
    let (high, low) = completed.multipliedFullWidth(by: 100)
    percent = total.dividingFullWidth((high, low)).quotient
  }

  private static func clamped(_ percent: Int) -> Int { min(max(percent, 0), 100) }
}

extension LoadingProgress: Codable, JSONReadable, JSONWritable {
  private enum CodingKeys: String, CodingKey {
    case percent, message, isCancelled
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      percent: try container.decodeIfPresent(Double.self, forKey: .percent).map(Self.percent),
      message: try container.decodeIfPresent(String.self, forKey: .message),
      isCancelled: try container.decodeIfPresent(Bool.self, forKey: .isCancelled) ?? false)
  }

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

  /// The percent of a number of any size; JSON has none that is not finite.
  private static func percent(_ number: Double) -> Int {
    Int(min(max(number, 0), 100).rounded(.down))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(percent, forKey: .percent)
    try container.encode(message, forKey: .message)
    try container.encode(isCancelled, forKey: .isCancelled)
  }

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
  // Read more leniently than it is written.
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
