// SPDX-License-Identifier: Apache-2.0

/// The way in which values of one type are written, determined once for all of them.
///
/// It writes the same text as `JSON.write`, which checks for each value whether the type writes
/// itself.
public struct JSONEncoding<T: Encodable> {
  private let direct: ((T, inout JSONWriter) -> Void)?
  /// The members of the last value; nil if they are not kept.
  let members: EncodedMembers?

  /// True if a value may have no JSON text, so that `write` can throw.
  public var canFail: Bool { direct == nil }

  /// Determines how values of the type are written.
  ///
  /// - Parameter keepsMembers: True if the members of the last value are kept, so that
  ///   `JSONEncodedState.advance` writes only those members of the next value that differ. This
  ///   serves values with many members of which few change at a time. The encoding then belongs to
  ///   one `JSONEncodedState`.
  public init(keepsMembers: Bool = false) {
    // These two have values without JSON text: infinities and NaN.
    let canFail = T.self == Double.self || T.self == Float.self
    direct = canFail ? nil : (T.self as? any JSONWritable.Type).map { Self.direct($0) }
    // A type that writes itself has no members.
    members = keepsMembers && direct == nil ? EncodedMembers() : nil
  }

  private static func direct<Direct: JSONWritable>(
    _ type: Direct.Type
  ) -> (T, inout JSONWriter) -> Void {
    // This cast cannot fail, because `Direct` is `T`. A checked cast would be looked up for each
    // value. The value is read in place, because it may be large and must not be copied.
    { value, writer in
      withUnsafePointer(to: value) {
        UnsafeRawPointer($0).assumingMemoryBound(to: Direct.self).pointee.place(in: &writer)
      }
    }
  }

  /// Writes the text of a value, with a comma before it if one is needed.
  ///
  /// - Throws: The errors of `JSON.encode`; the writer then has the same contents as before.
  public func write(_ value: T, to writer: inout JSONWriter) throws(JSONError) {
    if let direct {
      direct(value, &writer)
    } else {
      try EncodedText.write(value, to: &writer, members)
    }
  }

  /// Writes the text of a value, or `null` if the value has no text.
  ///
  /// For contexts that cannot fail, such as the elements of a list in a state: one number that is
  /// not finite must not make the whole list unwritable.
  public func writeOrNull(_ value: T, to writer: inout JSONWriter) {
    do throws(JSONError) {
      try write(value, to: &writer)
    } catch {
      writer.null()
    }
  }
}

/// The way in which values of one type are read, determined once for all of them.
///
/// It reads the same values as `JSON.decode`, which checks for each value whether the type reads
/// itself.
public struct JSONDecoding<T: Decodable> {
  private let direct: ((inout JSONReader) throws(JSONError) -> T)?

  /// Determines how values of the type are read.
  public init() {
    direct = (T.self as? any JSONReadable.Type).map { Self.direct($0) }
  }

  private static func direct<Direct: JSONReadable>(
    _ type: Direct.Type
  ) -> (inout JSONReader) throws(JSONError) -> T {
    // This cast cannot fail, as above.
    { reader throws(JSONError) in unsafeBitCast(try Direct(reading: &reader), to: T.self) }
  }

  /// Reads the next value of a longer text.
  ///
  /// - Throws: `JSONError`; its offset and path start at the beginning of the longer text.
  public func read(_ reader: inout JSONReader) throws(JSONError) -> T {
    if let direct { try direct(&reader) } else { try JSON.decode(T.self, reading: &reader) }
  }
}
