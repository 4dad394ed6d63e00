// SPDX-License-Identifier: Apache-2.0

/// An object whose string member `type` tells what its other members mean.
///
/// For enums that read themselves. Members are found wherever they stand, the last of several
/// with one key counts, and members that nobody asks for are skipped. Each member that is asked
/// for goes through the text once more instead of keeping a table, which for objects of a few
/// members is the faster way.
///
/// ```swift
/// let object = try JSONTaggedObject(reading: &reader)
/// switch object.type {
/// case "todoAdded": self = .todoAdded(title: try object.read("title"))
/// default: throw object.unknownType()
/// }
/// ```
public struct JSONTaggedObject {
  /// The value of `type`.
  public let type: JSONKey
  private let start: JSONReader
  private let end: JSONReader
  private let typeEnd: JSONReader

  /// Reads a whole object.
  /// - Throws: `JSONError` if it is no object or has no string `type`.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    start = reader
    var found: JSONReader?
    try reader.beginObject()
    while let key = try reader.nextKey() {
      if key == "type" { found = reader }
      _ = try reader.skipValue()
    }
    end = reader
    guard var found else { throw reader.missing("type") }
    type = try found.readStringBytes()
    typeEnd = found
  }

  /// Reads a member.
  /// - Throws: `JSONError` if it is missing or no such value.
  public func read<T: JSONReadable>(_ key: StaticString, as: T.Type = T.self) throws(JSONError) -> T
  {
    guard var member = try member(key) else { throw end.missing(key) }
    return try member.read(T.self)
  }

  /// Reads a member that may be null or absent.
  public func readIfPresent<T: JSONReadable>(
    _ key: StaticString, as: T.Type = T.self
  ) throws(JSONError) -> T? {
    guard var member = try member(key) else { return nil }
    return try member.readIfPresent(T.self)
  }

  /// The error for a `type` that is none of those known.
  public func unknownType() -> JSONError { typeEnd.unknown(type) }

  /// A reader that stands before the value of a member.
  private func member(_ wanted: StaticString) throws(JSONError) -> JSONReader? {
    var found: JSONReader?
    var reader = start
    try reader.beginObject()
    while let key = try reader.nextKey() {
      if key == wanted { found = reader }
      _ = try reader.skipValue()
    }
    return found
  }
}
