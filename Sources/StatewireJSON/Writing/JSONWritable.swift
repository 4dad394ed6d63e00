// SPDX-License-Identifier: Apache-2.0

/// A type that writes itself as JSON text, for those that are written often.
///
/// `JSON.encode` and the encoder prefer this over `Encodable`, at the top and nested.
public protocol JSONWritable {
  /// Writes exactly one value.
  func write(to writer: inout JSONWriter)

  /// Writes the value, or lets it stand aside where states are compared; see `JSONDifferencing`.
  func place(in writer: inout JSONWriter)
}

extension JSONWritable {
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
  @inlinable
  public func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension String: JSONWritable {
  @inlinable
  public func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension FixedWidthInteger where Self: JSONWritable {
  @inlinable
  public func write(to writer: inout JSONWriter) { writer.integer(self) }
}

extension Int: JSONWritable {}
extension Int8: JSONWritable {}
extension Int16: JSONWritable {}
extension Int32: JSONWritable {}
extension Int64: JSONWritable {}
extension Int128: JSONWritable {}
extension UInt: JSONWritable {}
extension UInt8: JSONWritable {}
extension UInt16: JSONWritable {}
extension UInt32: JSONWritable {}
extension UInt64: JSONWritable {}
extension UInt128: JSONWritable {}

extension Double: JSONWritable {
  public func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Float: JSONWritable {
  public func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension JSONNumber: JSONWritable {
  public func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension JSONValue: JSONWritable {
  public func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension JSONObject: JSONWritable {
  public func write(to writer: inout JSONWriter) { writer.value(.object(self)) }
}
