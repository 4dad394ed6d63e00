// SPDX-License-Identifier: Apache-2.0

// The size of values, without writing them.

extension JSONValue {
  /// The length as compact text, in bytes.
  package var textBytes: Int {
    switch self {
    case .null: 4
    case .bool(let flag): flag ? 4 : 5
    case .number(let number): number.text.utf8.count
    case .string(let text): text.textBytes
    // Each value has a comma but the last one.
    case .array(let elements):
      elements.reduce(elements.isEmpty ? 2 : 1) { $0 + $1.textBytes + 1 }
    case .object(let object): object.textBytes
    }
  }

  /// The nesting depth of arrays and objects.
  package var depth: Int {
    switch self {
    case .null, .bool, .number, .string: 0
    case .array(let elements): 1 + elements.reduce(0) { max($0, $1.depth) }
    case .object(let object): 1 + object.reduce(0) { max($0, $1.value.depth) }
    }
  }
}

extension JSONObject {
  fileprivate var textBytes: Int {
    var bytes = isEmpty ? 2 : 1
    // In place, without copies of the members.
    for index in members.indices {
      guard let value = members[index].value?.textBytes else { continue }
      bytes += members[index].key.textBytes + 1 + value + 1
    }
    return bytes
  }
}

extension String {
  /// The length as a JSON string, in bytes.
  package var textBytes: Int {
    withUTF8Bytes { $0.isUnescaped ? $0.count + 2 : nil } ?? JSONValue.string(self).bytes.count
  }
}

extension UnsafeRawBufferPointer {
  /// True if a JSON string has these bytes without escapes.
  fileprivate var isUnescaped: Bool {
    var offset = 0
    while offset &+ 8 <= count {
      let word = UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      if JSONReader.stops(in: word) != 0, !isUnescaped(offset..<offset &+ 8) { return false }
      offset &+= 8
    }
    return isUnescaped(offset..<count)
  }

  private func isUnescaped(_ range: Range<Int>) -> Bool {
    self[range].allSatisfy {
      $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
    }
  }
}
