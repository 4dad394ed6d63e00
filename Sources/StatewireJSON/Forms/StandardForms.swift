// SPDX-License-Identifier: Apache-2.0

/// A type of the standard library or of Foundation whose JSON differs from what its `Encodable`
/// conformance writes.
///
/// docs/reference/types.md lists the forms. `StandardForms` lists the types; a type that it does not
/// list is encoded and decoded by its own conformances.
protocol StandardEncoding {
  /// Encodes the value in its form on the wire.
  func encodeForm(to encoder: TextEncoder) throws
}

/// A type of the standard library or of Foundation that is decoded from the form of
/// `StandardEncoding`, and from the form that its `Decodable` conformance reads if the two cannot be
/// confused.
protocol StandardDecoding {
  /// Decodes a value from its form on the wire.
  static func decodeForm(from decoder: TextDecoder) throws -> Self
}

/// The generic and concrete types that have a form of their own.
///
/// Both coders ask for every type that does not read or write itself. A cast to a protocol would
/// cost more than encoding a small struct, so the type's descriptor, which all types of one generic
/// struct share, is compared first.
struct StandardForms {
  private static let all = StandardForms()

  private let descriptors: [Int]
  /// A bit for each descriptor, which excludes most other types with one test.
  private let filter: UInt64

  private init() {
    descriptors = Self.types.map { Self.descriptor(of: $0) }
    filter = descriptors.reduce(0) { $0 | Self.bit($1) }
  }

  /// Returns true if a type has a form of its own.
  @inline(__always)
  static func contains(_ type: Any.Type) -> Bool {
    let descriptor = descriptor(of: type)
    return all.filter & bit(descriptor) != 0 && all.contains(type, descriptor)
  }

  @inline(never)
  private func contains(_ type: Any.Type, _ descriptor: Int) -> Bool {
    descriptors.contains(descriptor) && !Self.hasStringKeys(type)
  }

  /// Returns true for a dictionary with keys of `String`, which has the form already.
  private static func hasStringKeys(_ type: Any.Type) -> Bool {
    // The generic arguments of a struct follow its descriptor.
    guard descriptor(of: type) == descriptor(of: [Int: Int].self) else { return false }
    return words(of: type)[2] == unsafeBitCast(String.self as Any.Type, to: Int.self)
  }

  /// The address of the descriptor of a struct; 0 for any other type.
  ///
  /// - Source: Swift's ABI, `docs/ABI/TypeMetadata.rst`: struct metadata.
  @inline(__always)
  private static func descriptor(of type: Any.Type) -> Int {
    let kindOfStructs = 0x200
    let words = words(of: type)
    return words[0] == kindOfStructs ? words[1] : 0
  }

  @inline(__always)
  private static func words(of type: Any.Type) -> UnsafePointer<Int> {
    unsafeBitCast(type, to: UnsafePointer<Int>.self)
  }

  @inline(__always)
  private static func bit(_ descriptor: Int) -> UInt64 { 1 << UInt64((descriptor >> 4) & 63) }
}

// MARK: - Coders

extension TextDecoder {
  /// The error for the value, with its path.
  func invalid(_ message: String, _ code: JSONError.Code = .value) -> JSONError {
    JSONError(code, message, offset: offset, path: text.path(to: offset))
  }

  /// The first byte of the value.
  var firstByte: UInt8 { text.bytes[offset] }

  /// Returns the string that the value is.
  ///
  /// - Throws: `type` for another value.
  func string() throws(JSONError) -> String { try text.read(String.self, at: offset) }

  /// Returns the decimal number that the value is, or that it contains as a string.
  ///
  /// - Throws: `type` for another value; `value` for a string that is not a decimal number.
  func decimalText() throws(JSONError) -> String {
    guard firstByte == UInt8(ascii: "\"") else {
      return "\(try text.read(JSONNumber.self, at: offset))"
    }
    let string = try string()
    guard (try? JSONNumber(parsing: string)) != nil else {
      throw invalid("\(string.quoted()) is not a decimal number")
    }
    return string
  }
}

extension TextEncoder {
  /// Writes a string as the value.
  func encode(_ string: String) throws {
    var container = SingleEncoding(encoder: self)
    try container.encode(string)
  }

  /// The error for a value that has no form.
  func invalid(_ message: String) -> JSONError {
    JSONError(.value, message, path: text.path(to: start))
  }
}
