// SPDX-License-Identifier: Apache-2.0

/// An object whose string member `type` determines the meaning of its other members.
///
/// For enums that read themselves. Members are found in any order, the last of several members with
/// the same key counts, and members that are not read are ignored.
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
  private let members: JSONMembers

  /// Reads a whole object.
  ///
  /// - Throws: `JSONError` if the value is not an object or has no string `type`.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    members = try JSONMembers(reading: &reader)
    guard var tag = members["type"] else { throw members.missing("type") }
    type = try tag.readStringBytes()
  }

  /// Reads a member.
  ///
  /// - Throws: `JSONError` if it is missing or not a value of the type.
  public func read<T: JSONReadable>(_ key: StaticString, as: T.Type = T.self) throws(JSONError) -> T
  {
    guard var member = members[key] else { throw members.missing(key) }
    return try member.read(T.self)
  }

  /// Reads a member that may be null or absent.
  ///
  /// - Throws: `JSONError` if it is not a value of the type.
  public func readIfPresent<T: JSONReadable>(
    _ key: StaticString, as: T.Type = T.self
  ) throws(JSONError) -> T? {
    guard var member = members[key] else { return nil }
    return try member.readIfPresent(T.self)
  }

  /// Returns the error for an unknown `type`.
  public func unknownType() -> JSONError {
    guard var tag = members["type"] else { return members.missing("type") }
    _ = try? tag.readStringBytes()
    return tag.unknown(type)
  }
}
