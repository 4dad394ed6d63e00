// SPDX-License-Identifier: Apache-2.0

// The coders of this module use `JSONReadable` and `JSONWritable`. This code is for other coders,
// which know numbers only as types of the standard library.

extension JSONValue: Codable {
  /// Decodes any value, for coders of other modules.
  public init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: PathKey.self) {
      var object = JSONObject()
      for key in container.allKeys {
        object[key.stringValue] = try container.decode(JSONValue.self, forKey: key)
      }
      self = .object(object)
    } else if var container = try? decoder.unkeyedContainer() {
      var elements: [JSONValue] = []
      while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
      self = .array(elements)
    } else {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let value = try? container.decode(Bool.self) {
        self = .bool(value)
      } else if let value = try? container.decode(String.self) {
        self = .string(value)
      } else {
        self = .number(try JSONNumber(from: decoder))
      }
    }
  }

  /// Encodes the value, for coders of other modules.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    case .object(let object):
      var container = encoder.container(keyedBy: PathKey.self)
      for (key, value) in object {
        try container.encode(value, forKey: PathKey(stringValue: key))
      }
    case .null, .bool, .number, .string:
      var container = encoder.singleValueContainer()
      switch self {
      case .bool(let value): try container.encode(value)
      case .number(let value): try container.encode(value)
      case .string(let value): try container.encode(value)
      default: try container.encodeNil()
      }
    }
  }
}

extension JSONNumber: Codable {
  /// Decodes a number, for coders of other modules.
  ///
  /// - Throws: `DecodingError` if the number is not finite.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(Int64.self) {
      self.init(value)
    } else if let value = try? container.decode(UInt64.self) {
      self.init(value)
    } else if let number = JSONNumber(try container.decode(Double.self)) {
      self = number
    } else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "the number is not finite")
    }
  }

  /// Encodes the number, for coders of other modules; a number that is not a 64-bit integer becomes
  /// the nearest `Double`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch storage {
    case .signed(let value): try container.encode(value)
    case .unsigned(let value): try container.encode(value)
    case .text: try container.encode(double)
    }
  }
}

extension JSONObject: Codable {
  /// Decodes an object, for coders of other modules.
  ///
  /// - Throws: `DecodingError` for another value.
  public init(from decoder: any Decoder) throws {
    guard case .object(let object) = try JSONValue(from: decoder) else {
      throw DecodingError.typeMismatch(
        JSONObject.self,
        .init(codingPath: decoder.codingPath, debugDescription: "expected an object"))
    }
    self = object
  }

  /// Encodes the object, for coders of other modules.
  public func encode(to encoder: any Encoder) throws {
    try JSONValue.object(self).encode(to: encoder)
  }
}

extension JSONPatch: Codable {
  /// Decodes a patch: an array of operations.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer().decode(JSONValue.self)
    do {
      try self.init(value)
    } catch {
      throw error.under(decoder.codingPath.map(JSONPathElement.init))
    }
  }

  /// Encodes the patch as an array of operations.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}
