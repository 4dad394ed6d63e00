// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// The secrets of a recording, and the values that are written instead of them.
///
/// A secret has the same placeholder each time, with as many characters of the same lengths, so that stores
/// whose rules compare or count treat both alike. In other values a secret is found if it has at
/// least `minimumBytes` bytes.
struct SecretPlaceholders {
  /// The shortest secret that is looked for in other texts, in bytes.
  static let minimumBytes = 4

  private var placeholders: [String: String] = [:]
  /// The secrets by their first four bytes; longer ones first.
  private var index: [UInt32: [[UInt8]]] = [:]
  /// The memory of the secrets, approximately.
  private(set) var byteCount = 0

  /// Returns the placeholder of a secret, which may be new. An empty text has none.
  mutating func placeholder(for secret: String) -> String {
    if secret.isEmpty { return secret }
    note(secret)
    return placeholder(new: secret)
  }

  /// Returns the placeholder of the key of a secret object. A key that could be the name of a member is
  /// not looked for in other texts.
  mutating func placeholder(forKey key: String) -> String {
    let isName = key.utf8.allSatisfy { LineCursor.isLetter($0) || $0 == UInt8(ascii: "_") }
    return isName ? placeholder(new: key) : placeholder(for: key)
  }

  private mutating func placeholder(new secret: String) -> String {
    if let known = placeholders[secret] { return known }
    let new = Self.text(placeholders.count, like: secret)
    placeholders[secret] = new
    byteCount += 2 * secret.utf8.count + 128
    return new
  }

  /// Returns the placeholder of a secret that was sent; nil if there is none.
  func known(_ secret: String) -> String? { placeholders[secret] }

  /// Adds a secret that only the server has sent: it is looked for in other texts.
  mutating func note(_ secret: String) {
    let bytes = Array(secret.utf8)
    guard bytes.count >= Self.minimumBytes else { return }
    let key = Self.key(bytes[...])
    var secrets = index[key] ?? []
    if secrets.contains(bytes) { return }
    byteCount += 2 * bytes.count + 128
    secrets.insert(bytes, at: secrets.firstIndex { $0.count < bytes.count } ?? secrets.count)
    index[key] = secrets
  }

  /// Returns true if a number is a secret with at least four digits, whatever its sign.
  func contains(_ number: JSONNumber) -> Bool {
    if index.isEmpty { return false }
    let text = "\(JSONValue.number(number))"
    guard text.utf8.count(where: LineCursor.isDigit) >= Self.minimumBytes else { return false }
    let digits = text.first == "-" ? String(text.dropFirst()) : text
    return [digits, "-" + digits].contains { secret in
      let bytes = Array(secret.utf8)
      return index[Self.key(bytes[...])]?.contains(bytes) == true
    }
  }

  /// Returns a text with placeholders for the secrets in it; nil if it contains none.
  func replacing(in text: String) -> String? {
    if index.isEmpty { return nil }
    var (result, isChanged): ([UInt8], Bool) = ([], false)
    var rest = Array(text.utf8)[...]
    while let byte = rest.first {
      if rest.count >= Self.minimumBytes,
        let secret = index[Self.key(rest)]?.first(where: { rest.starts(with: $0) })
      {
        let secretText = String(decoding: secret, as: UTF8.self)
        result += (placeholders[secretText] ?? Self.text(0, like: secretText)).utf8
        rest = rest.dropFirst(secret.count)
        isChanged = true
      } else {
        result.append(byte)
        rest.removeFirst()
      }
    }
    return isChanged ? String(decoding: result, as: UTF8.self) : nil
  }

  private static func key(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.prefix(minimumBytes).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Returns a text whose last four characters are a number, with characters of the same length in
  /// JSON: the server chooses the form of a patch by its length.
  private static func text(_ number: Int, like secret: String) -> String {
    let count = secret.count
    let word = Array("redacted-".utf8)
    let characters = secret.enumerated().map { index, character -> String in
      let place = count - 1 - index
      let digit = place < 4 ? number >> (4 * place) & 0xF : nil
      let length = JSONValue.string(String(character)).bytes.count - 2
      if length == 1 {
        return digit.map { String($0, radix: 16) }
          ?? String(Unicode.Scalar(word[index % word.count]))
      }
      return wide(digit ?? 9, bytes: length)
    }
    return characters.joined()
  }

  /// Returns a character with two or more bytes.
  private static func wide(_ digit: Int, bytes: Int) -> String {
    // Letters of Latin-1, Hiragana, and emoji; then accents on these.
    let start = bytes == 2 ? 0xE0 : bytes % 2 == 1 ? 0x3042 : 0x1F600
    let accents = bytes < 5 ? 0 : (bytes - (bytes % 2 == 1 ? 3 : 4)) / 2
    let scalars = [UInt32(start + digit)] + Array(repeating: 0x301, count: accents)
    return String(String.UnicodeScalarView(scalars.compactMap { Unicode.Scalar($0) }))
  }
}

extension JSONNumber {
  /// An integer with as many digits as the integral part, up to 15; it shows nothing else.
  var placeholder: JSONNumber {
    let digits = "\(JSONValue.number(self))".utf8.drop { $0 == UInt8(ascii: "-") }
      .prefix(while: LineCursor.isDigit).count
    return JSONNumber((1..<max(1, min(digits, 15))).reduce(Int64(1)) { value, _ in value * 10 })
  }
}
