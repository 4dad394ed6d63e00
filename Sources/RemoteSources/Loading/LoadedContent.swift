// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores

/// The format of a source's bytes.
enum LoadedContent {
  /// The bytes are a JSON text (RFC 8259).
  case json
  /// The bytes are UTF-8, and the value is a JSON string of them.
  case text

  /// The format by `Content-Type`: JSON if the type is `…/json` or ends in `+json`.
  /// - Source: RFC 9110 §8.3.1; RFC 6839 §3.1.
  init(contentType: String?) {
    var type = (contentType ?? "").utf8.prefix { $0 != UInt8(ascii: ";") }
    while let last = type.last, " \t".utf8.contains(last) { type.removeLast() }
    self = Self.ends(type, in: "/json") || Self.ends(type, in: "+json") ? .json : .text
  }

  /// The format by a file's name: JSON if it ends in `.json`.
  init(fileName: String) {
    self = Self.ends(fileName.utf8, in: ".json") ? .json : .text
  }

  /// Compares bytes, ignoring the case of A to Z.
  private static func ends(_ text: some BidirectionalCollection<UInt8>, in end: String) -> Bool {
    text.suffix(end.utf8.count).lazy.map(\.asciiLowercased).elementsEqual(end.utf8)
  }

  /// Converts bytes to a value.
  ///
  /// - Complexity: O(n) in the number of bytes.
  /// - Throws: `notJSON` or `notText`.
  func value(of bytes: [UInt8]) throws(RemoteFailure) -> LoadedValue {
    switch self {
    case .json:
      // RFC 8259 §8.1 lets a reader ignore a byte order mark; some programs write one.
      let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
      let text = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
      do { return try LoadedValue(json: text) } catch { throw .notJSON }
    case .text:
      guard let text = String(validating: bytes, as: UTF8.self) else { throw .notText }
      return LoadedValue(text: text)
    }
  }
}
