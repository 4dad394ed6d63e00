// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// What a frontend sends to a loader.
///
/// - Shape: `{"type": "load"}` and so on; no input has members.
public enum LoadingInput: String, CaseIterable, Hashable, Sendable {
  /// Load, or load again; while loading, the newest call counts.
  case load
  /// Load, unless that is going on.
  case loadIfNotLoading
  /// The frontend shows the loader: load, unless there is something to show.
  case appear
  /// Stop loading and say so; nothing is loaded any more until `reset`.
  case cancel
  /// Back to idle, whatever was.
  case reset
}

extension LoadingInput: Codable, JSONReadable, JSONWritable {
  private enum CodingKeys: String, CodingKey {
    case type
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let type = try container.decode(String.self, forKey: .type)
    guard let input = LoadingInput(rawValue: type) else {
      throw DecodingError.dataCorruptedError(
        forKey: .type, in: container, debugDescription: "there is no such type")
    }
    self = input
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    let object = try JSONTaggedObject(reading: &reader)
    switch object.type {
    case "load": self = .load
    case "loadIfNotLoading": self = .loadIfNotLoading
    case "appear": self = .appear
    case "cancel": self = .cancel
    case "reset": self = .reset
    default: throw object.unknownType()
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(rawValue, forKey: .type)
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("type")
    writer.value(rawValue)
    writer.endObject()
  }
}

extension LoadingInput: JSONDescribed {
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .oneOf(allCases.map { .tagged($0.rawValue) })
  }
}
