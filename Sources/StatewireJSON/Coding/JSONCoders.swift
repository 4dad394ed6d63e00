// SPDX-License-Identifier: Apache-2.0

/// How values of one type are written, found out once for all of them.
///
/// The same text as `JSON.write` gives, which has to ask each time whether the type writes itself.
public struct JSONEncoding<T: Encodable> {
  private let direct: ((T, inout JSONWriter) -> Void)?

  /// True unless every value has a text.
  public var canFail: Bool { direct == nil }

  public init() {
    // These two may have no text at all.
    let canFail = T.self == Double.self || T.self == Float.self
    direct = canFail ? nil : (T.self as? any JSONWritable.Type).map { Self.direct($0) }
  }

  private static func direct<Direct: JSONWritable>(
    _ type: Direct.Type
  ) -> (T, inout JSONWriter) -> Void {
    // A cast that cannot fail, since `Direct` is `T`, and that must not be looked up each time; where
    // the value stands, since it may be large and is not to be copied.
    { value, writer in
      withUnsafePointer(to: value) {
        UnsafeRawPointer($0).assumingMemoryBound(to: Direct.self).pointee.place(in: &writer)
      }
    }
  }

  /// Writes the text of a value, after a comma where one is due; nothing, if that fails.
  public func write(_ value: T, to writer: inout JSONWriter) throws(JSONError) {
    if let direct { direct(value, &writer) } else { try JSON.write(value, to: &writer) }
  }

  /// Writes the text of a value; `null` if that fails.
  ///
  /// For places that cannot fail, such as the elements of a list in a state: one number that is not
  /// finite must not take the rest of the list with it.
  public func writeOrNull(_ value: T, to writer: inout JSONWriter) {
    do throws(JSONError) {
      try write(value, to: &writer)
    } catch {
      writer.null()
    }
  }
}

/// How values of one type are read, found out once for all of them.
///
/// The same values as `JSON.decode` gives, which has to ask each time whether the type reads itself.
public struct JSONDecoding<T: Decodable> {
  private let direct: ((inout JSONReader) throws(JSONError) -> T)?

  public init() {
    direct = (T.self as? any JSONReadable.Type).map { Self.direct($0) }
  }

  private static func direct<Direct: JSONReadable>(
    _ type: Direct.Type
  ) -> (inout JSONReader) throws(JSONError) -> T {
    // As above.
    { reader throws(JSONError) in unsafeBitCast(try Direct(reading: &reader), to: T.self) }
  }

  /// Reads the value that stands next in a longer text; the paths of errors start where the text
  /// does.
  public func read(_ reader: inout JSONReader) throws(JSONError) -> T {
    if let direct { try direct(&reader) } else { try JSON.decode(T.self, reading: &reader) }
  }
}
