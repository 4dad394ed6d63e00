// SPDX-License-Identifier: Apache-2.0

/// The tokens that a server takes, each with the identity that it speaks for.
///
/// ```
/// # who      what they show
/// alice      3q2-7wEkP0bEr0QpXvZ1nA
/// build-bot  Yb8rGmX2bq4mWcJ0Z0kq7w
/// ```
///
/// - Shape: a text of lines. A line is empty, a comment that begins with `#`, or a name and a token
///   with blanks between them. Both are visible ASCII; a name has at most 64 bytes, a token 16 to
///   512. A name may stand in several lines, a token in one.
public struct TokenTable: Sendable {
  /// - Units: bytes.
  public static let tokenBytes = 16...512

  private static let maximumNameBytes = 64

  private struct Entry {
    let identity: Identity
    let token: PaddedToken
  }

  private var entries: [Entry] = []

  /// - Throws: `TokenFileError`, which shows no token.
  public init(parsing text: some Sequence<UInt8>) throws(TokenFileError) {
    var number = 0
    // Here nobody watches the time, and every token compared with all others would take long.
    var seen: Set<[UInt8]> = []
    for line in Array(text).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      number += 1
      try add(line, number, &seen)
    }
    guard !entries.isEmpty else { throw TokenFileError(line: nil, "there is no token in it") }
  }

  /// The identities that have a token.
  public var identities: Set<Identity> { Set(entries.map(\.identity)) }

  /// Whose token this is; nil if it is nobody's.
  ///
  /// Every token is compared to its end, so the time that it takes tells nothing about any.
  public func identity(of token: some Sequence<UInt8>) -> Identity? {
    let token = PaddedToken(Array(token))
    var found: Identity?
    for entry in entries where entry.token.isSame(as: token) { found = entry.identity }
    return found
  }

  private mutating func add(
    _ line: ArraySlice<UInt8>, _ number: Int, _ seen: inout Set<[UInt8]>
  ) throws(TokenFileError) {
    let words = line.split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    guard let name = words.first, name.first != UInt8(ascii: "#") else { return }
    guard words.count == 2 else {
      throw TokenFileError(line: number, "a line is a name and a token")
    }
    guard line.allSatisfy({ $0 == 0x09 || $0 == 0x0D || (0x20..<0x7F).contains($0) }) else {
      throw TokenFileError(line: number, "names and tokens are visible ASCII")
    }
    guard name.count <= Self.maximumNameBytes else {
      throw TokenFileError(line: number, "a name has at most \(Self.maximumNameBytes) bytes")
    }
    let limits = Self.tokenBytes
    guard limits.contains(words[1].count) else {
      throw TokenFileError(
        line: number, "a token has \(limits.lowerBound) to \(limits.upperBound) bytes")
    }
    let token = Array(words[1])
    guard seen.insert(token).inserted else {
      throw TokenFileError(line: number, "its token stands in a line above as well")
    }
    entries.append(
      Entry(
        identity: Identity(String(decoding: name, as: UTF8.self)), token: PaddedToken(token)))
  }
}

/// Why a token file cannot be used.
public struct TokenFileError: Error, Equatable, CustomStringConvertible {
  /// Counted from 1; nil if it is about all of the file.
  public let line: Int?
  /// What is wrong; it quotes nothing of the file.
  public let message: String

  init(line: Int?, _ message: String) {
    self.line = line
    self.message = message
  }

  public var description: String { line.map { "line \($0): \(message)" } ?? message }
}

/// A token made as long as the longest, so that comparing any two takes the same steps.
private struct PaddedToken: Sendable {
  private let bytes: [UInt8]
  private let count: Int

  init(_ token: [UInt8]) {
    let length = TokenTable.tokenBytes.upperBound
    count = token.count
    // One that is too long is told apart by its count.
    bytes = Array(token.prefix(length)) + Array(repeating: 0, count: max(0, length - token.count))
  }

  /// Looks at all bytes, wherever the first difference is.
  func isSame(as other: PaddedToken) -> Bool {
    var difference = count ^ other.count
    for index in bytes.indices { difference |= Int(bytes[index] ^ other.bytes[index]) }
    return difference == 0
  }
}
