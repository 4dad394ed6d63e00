// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol
internal import StatewireJSON

extension FormEntry {
  /// Returns true if the entry has fewer than `count` extended grapheme clusters.
  ///
  /// Reads only as many characters as needed, so that a keystroke in a long entry costs no more
  /// than one in a short entry.
  func isShorter(than count: Int) -> Bool {
    if text.utf8.count < count { return true }
    // Fast path for printable ASCII: each character is one byte, whatever follows the prefix.
    let isPlain = text.withUTF8Bytes { $0.prefix(count).allSatisfy { 0x20..<0x7F ~= $0 } }
    return isPlain ? false : text.dropFirst(count - 1).isEmpty
  }

  /// Returns true if both entries look the same to a reader: they are canonically equivalent, as
  /// Swift compares strings.
  ///
  /// Entries that are not stream-safe match only if their bytes are equal: all clients share one
  /// event loop.
  func matches(_ other: FormEntry) -> Bool {
    self == other || (text.isStreamSafe && other.text.isStreamSafe && text == other.text)
  }
}
