// SPDX-License-Identifier: Apache-2.0

/// The tokens that a server accepts, each with its identity.
///
/// ```
/// # name     token
/// alice      3q2-7wEkP0bEr0QpXvZ1nA
/// build-bot  Yb8rGmX2bq4mWcJ0Z0kq7w
/// ```
///
/// - Shape: a text of lines. A line is empty, a comment that begins with `#`, or a name and a token
///   with blanks between them. Both are visible ASCII; a name has at most 64 bytes, a token 16 to
///   512 bytes. A name may be in several lines, a token in one only.
public struct TokenTable: Sendable {
  /// The permitted length of a token, in bytes.
  public static let tokenBytes = 16...512

  private static let maximumNameBytes = 64

  private struct Entry {
    let identity: Identity
    let token: PaddedToken
  }

  private var entries: [Entry] = []

  /// Parses a token file.
  ///
  /// - Throws: `TokenFileError` with the first fault; its text contains no token.
  public init(parsing text: some Sequence<UInt8>) throws(TokenFileError) {
    var number = 0
    // A set, because comparing all pairs is slow; constant time is not needed at this point.
    var seen: Set<[UInt8]> = []
    for line in Array(text).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      number += 1
      try add(line, number, &seen)
    }
    guard !entries.isEmpty else {
      throw TokenFileError(
        line: nil, "the file contains no token; add a line with a name and a token")
    }
  }

  /// The identities that have at least one token.
  public var identities: Set<Identity> { Set(entries.map(\.identity)) }

  /// Returns the identity of a token; nil if the token is unknown.
  ///
  /// - Complexity: O(*n*) in the number of tokens. Every token is compared completely, so the time
  ///   reveals nothing about the tokens.
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
      throw TokenFileError(
        line: number, "a line must contain a name and a token, with a blank between them")
    }
    guard line.allSatisfy({ $0 == 0x09 || $0 == 0x0D || (0x20..<0x7F).contains($0) }) else {
      throw TokenFileError(line: number, "names and tokens must be visible ASCII")
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
      throw TokenFileError(
        line: number, "the token is already in a line above; each token must be unique")
    }
    entries.append(
      Entry(
        identity: Identity(String(decoding: name, as: UTF8.self)), token: PaddedToken(token)))
  }
}

/// A fault in a token file.
public struct TokenFileError: Error, Equatable, CustomStringConvertible {
  /// The number of the line, from 1; nil if the fault concerns the whole file.
  public let line: Int?
  /// The description of the fault, without any text of the file.
  public let message: String

  init(line: Int?, _ message: String) {
    self.line = line
    self.message = message
  }

  /// The message, after the number of the line if there is one.
  public var description: String { line.map { "line \($0): \(message)" } ?? message }
}

/// A token padded to the maximum length, so that each comparison takes the same number of steps.
private struct PaddedToken: Sendable {
  private let bytes: [UInt8]
  private let count: Int

  init(_ token: [UInt8]) {
    let length = TokenTable.tokenBytes.upperBound
    count = token.count
    // A token that is too long differs in its count.
    bytes = Array(token.prefix(length)) + Array(repeating: 0, count: max(0, length - token.count))
  }

  /// Compares all bytes, even after a difference was found.
  func isSame(as other: PaddedToken) -> Bool {
    var difference = count ^ other.count
    for index in bytes.indices { difference |= Int(bytes[index] ^ other.bytes[index]) }
    return difference == 0
  }
}
