// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores

/// How the bytes of a source become a value.
enum LoadedContent {
  /// The bytes are a JSON text (RFC 8259).
  case json
  /// The bytes are UTF-8, and the value is a JSON string of them.
  case text

  /// What a server says of its answer: JSON if the type is `…/json` or ends in `+json`.
  /// - Source: RFC 9110 §8.3.1; RFC 6839 §3.1.
  init(contentType: String?) {
    let type = (contentType ?? "").prefix { $0 != ";" }.lowercased()
      .filter { $0 != " " && $0 != "\t" }
    self = type.hasSuffix("/json") || type.hasSuffix("+json") ? .json : .text
  }

  /// What the name of a file says: JSON if it ends in `.json`.
  init(fileName: String) {
    self = fileName.lowercased().hasSuffix(".json") ? .json : .text
  }

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
