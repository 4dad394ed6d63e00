// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// An input of a loader.
///
/// - Shape: `{"type": "load"}` and so on; no input has other members.
public enum LoadingInput: String, CaseIterable, Hashable, Sendable {
  /// Loads, or loads again; while loading, the newest request replaces the previous one.
  case load
  /// Loads unless the loader is loading.
  case loadIfNotLoading
  /// Reports that the frontend shows the loader; loads unless there is a result to show.
  case appear
  /// Cancels loading; the loader loads nothing until `reset`.
  case cancel
  /// Returns to `idle` from every state.
  case reset
}

extension LoadingInput: Codable, JSONReadable, JSONWritable {
  private enum CodingKeys: String, CodingKey {
    case type
  }

  /// Decodes the value from JSON; the type documents its shape.
  ///
  /// - Throws: `DecodingError` or `JSONError` with the path of the fault.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let type = try container.decode(String.self, forKey: .type)
    guard let input = LoadingInput(rawValue: type) else {
      throw DecodingError.dataCorruptedError(
        forKey: .type, in: container, debugDescription: "unknown type")
    }
    self = input
  }

  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
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

  /// Encodes the value as JSON; the type documents its shape.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(rawValue, forKey: .type)
  }

  /// Writes the value as JSON; the type documents its shape.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("type")
    writer.value(rawValue)
    writer.endObject()
  }
}

extension LoadingInput: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .oneOf(allCases.map { .tagged($0.rawValue) })
  }
}
