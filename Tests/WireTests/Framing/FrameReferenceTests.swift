// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Wire

/// A simple reference implementation that splits a whole stream by the same rules.
private struct ReferenceSplitter {
  var rest: ArraySlice<UInt8>
  let limit: Int

  static let tokenBytes = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~".utf8)

  static func events(in stream: [UInt8], limit: Int) -> [SeenEvent] {
    var splitter = ReferenceSplitter(rest: stream[...], limit: limit)
    splitter.skipSpace()
    if let fault = splitter.openingFault { return [fault] }
    let usesHeaders = splitter.rest.first.map { "Cc".utf8.contains($0) } ?? false
    var events: [SeenEvent] = []
    while !splitter.rest.isEmpty {
      let event = usesHeaders ? splitter.nextBody() : splitter.nextLine()
      events.append(event)
      if case .unusableHeader = event { break }
      splitter.skipSpace()
    }
    return events
  }

  /// The event if the stream has another protocol or an incomplete beginning.
  var openingFault: SeenEvent? {
    let text = String(decoding: rest, as: UTF8.self)
    let header = #/(?i)content-(length|type):/#.asciiOnlyCharacterClasses()
    if text.isEmpty || "{[".contains(text.prefix(1)) || text.prefixMatch(of: header) != nil {
      return nil
    }
    let isStart = ["content-length:", "content-type:"].contains { $0.hasPrefix(text.lowercased()) }
    if isStart || text.wholeMatch(of: #/[A-Z-]{1,20}/#) != nil {
      return .unusableHeader(.incomplete)
    }
    if text.utf8.first == 0x16 { return .foreign(.tls) }
    if text.hasPrefix("SSH-") { return .foreign(.ssh) }
    return .foreign(text.prefixMatch(of: #/[A-Z-]{1,20} /#) == nil ? .other : .http)
  }

  mutating func skipSpace() {
    rest = rest.drop { " \t\r\n".utf8.contains($0) }
  }

  /// Takes the bytes up to the next newline. `ended` is true if there was one.
  mutating func takeLine() -> (line: [UInt8], ended: Bool) {
    var line = [UInt8](rest.prefix { $0 != 0x0A })
    let ended = line.count < rest.count
    rest = rest.dropFirst(line.count + 1)
    if line.last == 0x0D { line.removeLast() }
    return (line, ended)
  }

  mutating func nextLine() -> SeenEvent {
    let line = takeLine().line
    return line.count > limit ? .tooLarge : .message(line)
  }

  mutating func nextBody() -> SeenEvent {
    let start = rest.startIndex
    var lengths: [Int] = []
    while true {
      let (line, ended) = takeLine()
      let size = ended ? rest.startIndex - start : rest.startIndex - start + 1
      if size > FrameReader.maximumHeaderBytes { return .unusableHeader(.tooLong) }
      if !ended { return .unusableHeader(.incomplete) }
      if line.isEmpty { break }
      let text = String(decoding: line, as: UTF8.self)
      guard let colon = text.firstIndex(of: ":"), colon > text.startIndex,
        text[..<colon].utf8.allSatisfy(Self.tokenBytes.contains)
      else { return .unusableHeader(.malformedLine) }
      guard text[..<colon].lowercased() == "content-length" else { continue }
      let value = text[text.index(after: colon)...]
        .split { " \t".contains($0) }.joined(separator: " ")
      guard let length = Int(value), value.allSatisfy(\.isNumber) else {
        return .unusableHeader(.invalidLength)
      }
      if let first = lengths.first, first != length { return .unusableHeader(.conflictingLengths) }
      lengths.append(length)
    }
    guard let length = lengths.first else { return .unusableHeader(.missingLength) }
    let body = [UInt8](rest.prefix(length))
    rest = rest.dropFirst(length)
    if length > limit { return .tooLarge }
    return body.count < length ? .unusableHeader(.incomplete) : .message(body)
  }
}

@Suite("Frame reader: random streams")
struct FrameReferenceTests {
  /// Parts of random streams: most frames are valid, and any part may follow any other.
  static let parts: [Framing: [String]] = [
    .lines: [
      "{}", "[1,2]", "\n", "\n", "\n", "\r\n", "\r", " ", "0123456789abcde", "x",
      "Content-Length: 2",
    ],
    .headers: [
      "Content-Length: 2\r\n\r\n{}", "Content-Length: 2\r\n\r\n[]", "content-length: 5\n\n[1,2]",
      "X-Other: 1\r\nContent-Length: 3\r\n\r\n[1]", "Content-Length: 17\r\n\r\n0123456789abcdefg",
      "Content-Length: 0\r\n\r\n", "\r\n", " ", "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
      "Content-Length: 2\r\n\r\n{}", "Content-Length: 40\r\n\r\n", "Content-Length: 1\r\n", "X",
      "-1",
    ],
  ]

  @Test(
    "the reader gives the same events as the reference, wherever the stream is split",
    arguments: Framing.allCases)
  func agrees(_ framing: Framing) throws {
    let parts = try #require(Self.parts[framing])
    var random = SeededGenerator(seed: 0x5EED)
    var found = 0
    for _ in 0..<20_000 {
      var stream = FrameWriter(framing: framing).frame(Array("{}".utf8))
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        stream += parts.randomElement(using: &random)?.utf8 ?? "".utf8
      }
      if Bool.random(using: &random), let offset = stream.indices.randomElement(using: &random) {
        stream[offset] = UInt8.random(in: 0...0x7F, using: &random)
      }
      let cuts = (0..<Int.random(in: 0...6, using: &random))
        .map { _ in Int.random(in: 0...stream.count, using: &random) }.sorted()
      let bounds = [0] + cuts + [stream.count]
      let chunks = zip(bounds, bounds.dropFirst()).map { stream[$0..<$1] }
      let expected = ReferenceSplitter.events(in: stream, limit: 16)
      let seen = events(in: chunks, limit: 16)
      found += seen.count
      if seen != expected {
        Issue.record("\(String(decoding: stream, as: UTF8.self).debugDescription) split at \(cuts)")
        #expect(seen == expected)
        return
      }
    }
    #expect(found > 20_000)
  }

  @Test("`firstNewline` finds the first newline at any offset")
  func newlines() {
    var random = SeededGenerator(seed: 0x5EED)
    for count in 0..<300 {
      for _ in 0..<40 {
        let bytes = (0..<count).map { _ in
          // Newlines are rare, so that some are far away. Their neighbours in value are included
          // because a search by words with a borrow error would confuse them.
          Int.random(in: 0...count, using: &random) == 0
            ? 0x0A : UInt8([0x09, 0x0B, 0x8A, 0x00, 0xFF, 0x78].randomElement(using: &random) ?? 0)
        }
        let found = bytes.withUnsafeBytes { $0.firstNewline }
        #expect(found == bytes.firstIndex(of: 0x0A))
      }
    }
  }
}
