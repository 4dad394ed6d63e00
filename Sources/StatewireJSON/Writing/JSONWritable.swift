// SPDX-License-Identifier: Apache-2.0

/// A type that writes itself as JSON text, for types that are written often.
///
/// `JSON.encode` and the encoder prefer this over `Encodable`, also for nested values.
public protocol JSONWritable {
  /// Writes exactly one value.
  func write(to writer: inout JSONWriter)

  /// Writes the value, or keeps it as a leaf when states are compared; see `JSONDifferencing`.
  func place(in writer: inout JSONWriter)
}

extension JSONWritable {
  /// Writes the value.
  @inlinable
  public func place(in writer: inout JSONWriter) { write(to: &writer) }

  /// The value as JSON text.
  public func jsonBytes() -> [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.bytes()
  }
}

extension Bool: JSONWritable {
  /// Writes `true` or `false`.
  @inlinable
  public func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension String: JSONWritable {
  /// Writes the string in quotation marks.
  @inlinable
  public func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension FixedWidthInteger where Self: JSONWritable {
  /// Writes the integer.
  @inlinable
  public func write(to writer: inout JSONWriter) { writer.integer(self) }
}

extension Int: JSONWritable {}
extension Int8: JSONWritable {}
extension Int16: JSONWritable {}
extension Int32: JSONWritable {}
extension Int64: JSONWritable {}
extension UInt: JSONWritable {}
extension UInt8: JSONWritable {}
extension UInt16: JSONWritable {}
extension UInt32: JSONWritable {}
extension UInt64: JSONWritable {}

extension Double: JSONWritable {
  /// Writes the shortest text of the number; `null` if it is not finite.
  public func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Float: JSONWritable {
  /// Writes the shortest text of the number; `null` if it is not finite.
  public func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension JSONNumber: JSONWritable {
  /// Writes the number as it was read.
  public func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension JSONValue: JSONWritable {
  /// Writes the tree as compact text.
  public func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension JSONObject: JSONWritable {
  /// Writes the object as compact text.
  public func write(to writer: inout JSONWriter) { writer.value(.object(self)) }
}
