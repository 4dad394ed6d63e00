// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An id by which a `KeyedList` finds its elements: a type whose values have one string each.
///
/// `String`, integers and `UUID` conform. A type of one's own declares it, and needs no code if it
/// is `RawRepresentable` by a string or an integer, or `LosslessStringConvertible`:
///
/// ```swift
/// enum ColumnID: String, Codable, KeyedListID { case todo, doing, done }
/// ```
public protocol KeyedListID: Hashable {
  /// The string of the id. Different ids have different strings.
  var keyText: String { get }
}

extension KeyedListID where Self: LosslessStringConvertible {
  /// The description, from which the id can be made again.
  public var keyText: String { description }
}

extension KeyedListID where Self: RawRepresentable, RawValue: LosslessStringConvertible {
  /// The raw value.
  public var keyText: String { rawValue.description }
}

extension KeyedListID
where Self: RawRepresentable & LosslessStringConvertible, RawValue: LosslessStringConvertible {
  /// The raw value.
  public var keyText: String { rawValue.description }
}

extension String: KeyedListID {
  /// The string itself.
  @inlinable public var keyText: String { self }
}

extension Int: KeyedListID {}
extension Int32: KeyedListID {}
extension Int64: KeyedListID {}
extension UInt: KeyedListID {}
extension UInt32: KeyedListID {}
extension UInt64: KeyedListID {}

extension UUID: KeyedListID {
  /// The text of the UUID, in upper case.
  public var keyText: String { uuidString }
}
