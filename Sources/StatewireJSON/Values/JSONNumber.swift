// SPDX-License-Identifier: Apache-2.0

/// A number, exactly as it was read or created.
///
/// Integers of 64 bits are kept as integers. All other numbers keep their text, so `1.10` stays
/// `1.10` and `1e400` is preserved. Two numbers are equal if they have exactly the same value,
/// without rounding: `1`, `1.0` and `1e0` are equal, and so are `-0` and `0`.
public struct JSONNumber: Sendable {
  enum Storage: Sendable {
    case signed(Int64)
    /// Only values that are too large for `signed`.
    case unsigned(UInt64)
    /// Valid by RFC 8259 §6, and not an integer that the other cases could hold (`-0` is kept
    /// here).
    case text(String)
  }

  let storage: Storage

  /// Creates a number of an integer.
  @inlinable
  public init(_ value: Int64) { self.init(signed: value) }

  /// Creates a number of an integer.
  @inlinable
  public init(_ value: Int) { self.init(signed: Int64(value)) }

  @usableFromInline
  init(signed value: Int64) { self.init(storage: .signed(value)) }

  private init(storage: Storage) { self.storage = storage }

  /// Creates a number of an unsigned integer.
  public init(_ value: UInt64) {
    self.init(storage: Int64(exactly: value).map(Storage.signed) ?? .unsigned(value))
  }

  /// Creates a number with the shortest text that represents a `Double`; nil if the value is not
  /// finite.
  public init?(_ value: Double) {
    guard value.isFinite else { return nil }
    let text = NumberText.shortest(value)
    self = text.withUTF8Bytes { JSONNumber($0) }
  }

  /// Reads a number from a text that contains nothing else.
  ///
  /// - Throws: `JSONError` for any other text.
  public init(parsing text: String) throws(JSONError) {
    self = try text.utf8Span.span.withUnsafeBytes { bytes throws(JSONError) in
      var reader = JSONReader(bytes)
      let start = reader.nextValueOffset()
      guard start == 0 else { throw reader.error(.syntax, "expected a number, found a space") }
      let number = try reader.readNumber()
      guard reader.position == bytes.count else { throw reader.unexpected(.end) }
      return number
    }
  }

  /// Creates a number of valid text.
  ///
  /// - Precondition: `text` is a number by RFC 8259 §6.
  @usableFromInline
  init(_ text: UnsafeRawBufferPointer) {
    let isNegative = text.first == UInt8(ascii: "-")
    var magnitude: UInt64 = 0
    var isInteger = !(isNegative && text.count == 2 && text[1] == UInt8(ascii: "0"))
    for byte in text.dropFirst(isNegative ? 1 : 0) {
      let digit = byte &- UInt8(ascii: "0")
      let (shifted, overflow) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, carry) = shifted.addingReportingOverflow(UInt64(digit))
      guard digit < 10, !overflow, !carry else {
        isInteger = false
        break
      }
      magnitude = sum
    }
    if isInteger && !isNegative {
      self.init(magnitude)
    } else if isInteger, magnitude <= UInt64(Int64.max) + 1 {
      self.init(Int64(truncatingIfNeeded: 0 &- magnitude))
    } else {
      self.init(storage: .text(String(decoding: text, as: UTF8.self)))
    }
  }
}

// MARK: - Reading it

extension JSONNumber {
  /// The value if it is an integer that fits; `1.0` and `1e2` are integers too.
  public var int: Int? { integer(Int.self) }

  /// Returns the value if it is an integer that this type can hold.
  public func integer<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T? {
    switch storage {
    case .signed(let value): T(exactly: value)
    case .unsigned(let value): T(exactly: value)
    case .text(let text): text.withUTF8Bytes { DecimalDigits($0).integer() }
    }
  }

  /// The nearest `Double`; infinite if there is none.
  public var double: Double {
    switch storage {
    case .signed(let value): Double(value)
    case .unsigned(let value): Double(value)
    case .text(let text):
      text.withUTF8Bytes { Self.double(of: $0) }
        ?? (text.utf8.first == UInt8(ascii: "-") ? -.infinity : .infinity)
    }
  }

  /// The number as JSON text.
  public var text: String {
    switch storage {
    case .signed(let value): String(value)
    case .unsigned(let value): String(value)
    case .text(let text): text
    }
  }

  /// Returns the nearest `Double` of a number's text; nil if the number is too large.
  static func double(of text: UnsafeRawBufferPointer) -> Double? {
    let value =
      DecimalDigits.simpleDouble(text) ?? DecimalDigits(text).double()
    return value.isFinite ? value : nil
  }
}

// MARK: - Conformances

extension JSONNumber: Equatable {
  /// Returns true if both have exactly the same value.
  public static func == (one: JSONNumber, other: JSONNumber) -> Bool {
    switch (one.storage, other.storage) {
    case (.signed(let one), .signed(let other)):
      return one == other
    case (.unsigned(let one), .unsigned(let other)):
      return one == other
    case (.signed, .unsigned), (.unsigned, .signed):
      return false
    default:
      return one.text.withUTF8Bytes { one in
        other.text.withUTF8Bytes { DecimalDigits(one).isSameNumber(as: DecimalDigits($0)) }
      }
    }
  }
}

extension JSONNumber: CustomStringConvertible {
  /// The number as JSON text.
  public var description: String { text }
}

extension JSONNumber: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
  /// Creates a number of an integer literal.
  public init(integerLiteral value: Int64) { self.init(value) }

  /// Creates a number of a floating-point literal.
  ///
  /// - Precondition: The literal is a finite `Double`.
  public init(floatLiteral value: Double) {
    // A literal is written by the programmer; it cannot be reported to a client.
    guard let number = JSONNumber(value) else {
      preconditionFailure("a Double that is not finite cannot be represented in JSON")
    }
    self = number
  }
}
