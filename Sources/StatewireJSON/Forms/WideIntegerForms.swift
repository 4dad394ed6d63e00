// SPDX-License-Identifier: Apache-2.0

// An integer of 128 bits is a string, because most languages read a JSON number with so many digits
// inexactly. It is read from a JSON number too.

extension JSONReader {
  /// Reads an integer that is a number, or a string that contains one.
  fileprivate mutating func readWideInteger<T: FixedWidthInteger>(
    _ type: T.Type
  ) throws(JSONError) -> T {
    guard try peek() == .string else { return try readInteger() }
    let start = nextValueOffset()
    let text = try readString()
    guard let number = try? JSONNumber(parsing: text), let integer = number.integer(type) else {
      throw error(.number, "\(text.quoted()) is not an integer that fits \(T.self)", at: start)
    }
    return integer
  }
}

extension Int128: JSONWritable, JSONReadable {
  /// Writes the integer as a string.
  public func write(to writer: inout JSONWriter) { writer.value("\(self)") }

  /// Reads an integer from a string or a number.
  ///
  /// - Throws: `type` for another value, `number` if the integer does not fit.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    self = try reader.readWideInteger(Self.self)
  }
}

extension UInt128: JSONWritable, JSONReadable {
  /// Writes the integer as a string.
  public func write(to writer: inout JSONWriter) { writer.value("\(self)") }

  /// Reads an integer from a string or a number.
  ///
  /// - Throws: `type` for another value, `number` if the integer does not fit.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    self = try reader.readWideInteger(Self.self)
  }
}
