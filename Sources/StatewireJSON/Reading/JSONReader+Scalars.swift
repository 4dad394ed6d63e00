// SPDX-License-Identifier: Apache-2.0

extension JSONReader {
  /// Reads `null`.
  ///
  /// - Throws: `type` for another value.
  @inlinable
  public mutating func readNull() throws(JSONError) {
    guard nextByte() == UInt8(ascii: "n") else { throw unexpected(.null) }
    try literal("null")
  }

  /// Reads `null` if it is the next value; returns false and reads nothing otherwise.
  @inlinable
  public mutating func readNullIfPresent() throws(JSONError) -> Bool {
    guard nextByte() == UInt8(ascii: "n") else { return false }
    try literal("null")
    return true
  }

  /// Reads `true` or `false`.
  ///
  /// - Throws: `type` for another value.
  @inlinable
  public mutating func readBool() throws(JSONError) -> Bool {
    switch nextByte() {
    case UInt8(ascii: "t"):
      try literal("true")
      return true
    case UInt8(ascii: "f"):
      try literal("false")
      return false
    default:
      throw unexpected(.bool)
    }
  }

  /// Reads a string.
  ///
  /// - Throws: `type` for another value.
  @inlinable
  public mutating func readString() throws(JSONError) -> String {
    try readStringBytes().string
  }

  /// Reads a string without creating a `String`.
  ///
  /// - Throws: `type` for another value.
  @inlinable
  public mutating func readStringBytes() throws(JSONError) -> JSONKey {
    guard nextByte() == UInt8(ascii: "\"") else { throw unexpected(.string) }
    return try scanString()
  }

  @usableFromInline
  mutating func literal(_ word: StaticString) throws(JSONError) {
    let count = word.utf8CodeUnitCount
    for offset in 0..<count {
      guard at &+ offset < end, text[at &+ offset] == word.utf8Start[offset] else {
        at = min(at &+ offset, end)
        throw unexpected(.word)
      }
    }
    at &+= count
  }
}
