// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// Values that reports, transcripts and rewritten files show as `<name>`.
///
/// A value with fewer than four bytes is found only as a whole string; a longer one also in other
/// texts.
struct HiddenValues: Sendable, Equatable {
  private static let minimumBytes = 4

  /// The values with their names; longer ones first.
  private var values: [(text: String, name: String)] = []

  static func == (one: HiddenValues, other: HiddenValues) -> Bool {
    one.values.elementsEqual(other.values, by: ==)
  }

  /// Adds a value. An empty one is not hidden.
  mutating func add(_ text: String, name: String) {
    if text.isEmpty { return }
    let index = values.firstIndex { $0.text.utf8.count < text.utf8.count } ?? values.count
    values.insert((text, name), at: index)
  }

  /// Returns the text as a pattern with the names; nil if it contains no hidden value.
  func pattern(of text: String) -> Pattern? {
    if let whole = values.first(where: { $0.text == text }) { return .named(whole.name, nil) }
    let parts = parts(of: Array(text.utf8)) { [Array($0.utf8)] }
    return parts.count > 1 ? .text(parts) : nil
  }

  /// Returns a text with the names.
  func shown(_ text: String) -> String {
    switch pattern(of: text) {
    case .named(let name, _)?: "<\(name)>"
    case .text(let parts)?: parts.map(\.shown).joined()
    default: text
    }
  }

  /// Returns a value with the names, also in its keys.
  func shown(_ value: JSONValue) -> JSONValue {
    if values.isEmpty { return value }
    switch value {
    case .null, .bool: return value
    case .number:
      let shown = shown("\(value)")
      return shown == "\(value)" ? value : .string(shown)
    case .string(let text): return .string(shown(text))
    case .array(let elements): return .array(elements.map { shown($0) })
    case .object(let members):
      return .object(JSONObject(members.map { (shown($0.key), shown($0.value)) }))
    }
  }

  /// Returns the bytes of a message with the names; otherwise they are the same.
  func shown(_ bytes: [UInt8]) -> [UInt8] {
    if values.isEmpty { return bytes }
    let parts = parts(of: bytes) { text in
      // As it is, and as it is written in JSON.
      [Array(text.utf8), Array(JSONValue.string(text).bytes.dropFirst().dropLast())]
    }
    let found = parts.count > 1 || parts.first?.isName == true
    let result = found ? parts.flatMap { Array($0.shown.utf8) } : bytes
    // JSON can write the same text with other escapes.
    guard let value = try? JSONValue(parsing: result) else { return result }
    let shown = shown(value)
    return shown == value ? result : shown.bytes
  }

  /// Divides bytes at the hidden values.
  ///
  /// - Parameter forms: Returns the bytes of a value.
  private func parts(of bytes: [UInt8], forms: (String) -> [[UInt8]]) -> [Pattern.TextPart] {
    let hidden = values.filter { $0.text.utf8.count >= Self.minimumBytes }
      .flatMap { value in forms(value.text).map { (bytes: $0, name: value.name) } }
    var parts: [Pattern.TextPart] = []
    var plain: [UInt8] = []
    func endPlain() {
      if !plain.isEmpty { parts.append(.literal(String(decoding: plain, as: UTF8.self))) }
      plain = []
    }
    var rest = bytes[...]
    while let byte = rest.first {
      if let value = hidden.first(where: { rest.starts(with: $0.bytes) }) {
        endPlain()
        parts.append(.named(value.name))
        rest = rest.dropFirst(value.bytes.count)
      } else {
        plain.append(byte)
        rest.removeFirst()
      }
    }
    endPlain()
    return parts
  }
}

extension Pattern.TextPart {
  fileprivate var isName: Bool { if case .named = self { true } else { false } }

  fileprivate var shown: String {
    switch self {
    case .literal(let text): text
    case .named(let name): "<\(name)>"
    }
  }
}
