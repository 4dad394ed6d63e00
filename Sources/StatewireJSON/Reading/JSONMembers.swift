// SPDX-License-Identifier: Apache-2.0

/// The members of one object, found in one pass.
///
/// For objects of a few members, which can then be read in any order without another pass. The last
/// of several members with the same key counts.
///
/// Like the reader that created it, it does not own its bytes and must not outlive them.
public struct JSONMembers {
  private let bytes: UnsafeRawBufferPointer
  private let maximumDepth: Int32
  /// The depth of the members.
  private let depth: Int32
  private let start: Int
  private let leavesPaths: Bool
  private var end = 0
  // The first four members. If there are more, a lookup reads the object again.
  private var first = Place()
  private var second = Place()
  private var third = Place()
  private var fourth = Place()
  private var count = 0

  private static var room: Int { 4 }

  /// The offsets of a member in the text.
  private struct Place {
    var key: Int32 = 0
    /// The bitwise complement of the length if the key contains escapes.
    var keyCount: Int32 = 0
    var value: Int32 = 0
  }

  /// Reads a whole object.
  init(reading reader: inout JSONReader) throws(JSONError) {
    bytes = reader.text
    maximumDepth = reader.maximumDepth
    depth = reader.depth &+ 1
    start = reader.at
    leavesPaths = reader.leavesPaths
    // Larger offsets do not fit into `Place`.
    if bytes.count > Int(Int32.max) { count = Self.room &+ 1 }
    let known = count
    if readPlain(reader) {
      reader.skip(to: end)
      return
    }
    count = known
    try reader.beginObject()
    while let key = try reader.nextKey() {
      note(key, reader.at)
      _ = try reader.skipValue()
    }
    end = reader.at
  }

  /// Reads a plain object without white space, which is the usual form.
  ///
  /// - Returns: False if the object has another form; the strict reader then reads it.
  @inline(__always)
  private mutating func readPlain(_ reader: JSONReader) -> Bool {
    var reader = reader
    var offset = start
    guard offset < bytes.count, bytes[offset] == UInt8(ascii: "{"), reader.depth < maximumDepth
    else { return false }
    reader.depth &+= 1
    repeat {
      let key = offset &+ 2
      guard key < bytes.count, bytes[offset &+ 1] == UInt8(ascii: "\"") else { return false }
      let keyEnd = reader.plainStringEnd(from: key)
      guard keyEnd >= 0, keyEnd &+ 1 < bytes.count, bytes[keyEnd] == UInt8(ascii: ":")
      else { return false }
      let value = keyEnd &+ 1
      note(key: key, count: keyEnd &- 1 &- key, value: value)
      offset =
        bytes[value] == UInt8(ascii: "\"")
        ? reader.plainStringEnd(from: value &+ 1) : reader.plainValueEnd(from: value)
      guard offset >= 0, offset < bytes.count else { return false }
    } while bytes[offset] == UInt8(ascii: ",")
    guard bytes[offset] == UInt8(ascii: "}") else { return false }
    end = offset &+ 1
    return true
  }

  @inline(__always)
  private mutating func note(_ key: JSONKey, _ value: Int) {
    guard let text = bytes.baseAddress, let start = key.rawBytes.baseAddress else { return }
    let keyCount = key.rawBytes.count
    note(key: start - text, count: key.isEscaped ? ~keyCount : keyCount, value: value)
  }

  @inline(__always)
  private mutating func note(key: Int, count keyCount: Int, value: Int) {
    count &+= 1
    guard count <= Self.room else { return }
    let place = Place(
      key: Int32(truncatingIfNeeded: key), keyCount: Int32(truncatingIfNeeded: keyCount),
      value: Int32(truncatingIfNeeded: value))
    switch count {
    case 1: first = place
    case 2: second = place
    case 3: third = place
    default: fourth = place
    }
  }

  /// The text of the object.
  public var text: UnsafeRawBufferPointer { bytes.part(from: start, to: end) }

  /// A reader before the value of a member; nil if there is no such member.
  ///
  /// - Complexity: O(1) for up to four members, otherwise O(length of the object).
  public subscript(key: StaticString) -> JSONReader? {
    guard count <= Self.room else { return search(key) }
    if count > 3, isKey(fourth, key) { return reader(at: Int(fourth.value)) }
    if count > 2, isKey(third, key) { return reader(at: Int(third.value)) }
    if count > 1, isKey(second, key) { return reader(at: Int(second.value)) }
    if count > 0, isKey(first, key) { return reader(at: Int(first.value)) }
    return nil
  }

  /// Returns the error for a missing member.
  public func missing(_ key: StaticString) -> JSONError { reader(at: end).missing(key) }

  @inline(__always)
  private func isKey(_ place: Place, _ text: StaticString) -> Bool {
    let count = Int(place.keyCount)
    guard count >= 0 else {
      let key = bytes.part(from: Int(place.key), to: Int(place.key) &+ ~count)
      return JSONKey(rawBytes: key, isEscaped: true) == text
    }
    guard count == text.utf8CodeUnitCount else { return false }
    return JSONKey(
      rawBytes: bytes.part(from: Int(place.key), to: Int(place.key) &+ count), isEscaped: false)
      == text
  }

  @inline(__always)
  private func reader(at offset: Int) -> JSONReader {
    var reader = JSONReader(bytes, at: offset, depth: depth, maximumDepth: maximumDepth)
    reader.leavesPaths = leavesPaths
    return reader
  }

  private func search(_ wanted: StaticString) -> JSONReader? {
    var found: JSONReader?
    var reader = JSONReader(bytes, at: start, depth: depth &- 1, maximumDepth: maximumDepth)
    reader.leavesPaths = leavesPaths
    do throws(JSONError) {
      try reader.beginObject()
      while let key = try reader.nextKey() {
        if key == wanted { found = reader }
        _ = try reader.skipValue()
      }
    } catch {
      assertionFailure("an object that was read before cannot be read again: \(error)")
    }
    return found
  }
}

extension JSONReader {
  /// Reads an object whose members are read later.
  ///
  /// - Returns: The members; the paths of errors about them start at the object.
  /// - Throws: `JSONError` if the text is not JSON or the next value is not an object.
  public mutating func readMembers() throws(JSONError) -> JSONMembers {
    skipSpace()
    var own = JSONReader(
      text.part(from: at, to: end), at: 0, depth: depth, maximumDepth: maximumDepth)
    do throws(JSONError) {
      let members = try JSONMembers(reading: &own)
      at &+= own.at
      return members
    } catch {
      // Errors about text that is not JSON have offsets from the beginning of the text.
      _ = try skipValue()
      throw error
    }
  }
}
