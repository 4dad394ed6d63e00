// SPDX-License-Identifier: Apache-2.0

/// The headers of one frame, read line by line.
///
/// Only `Content-Length` has a meaning. All other lines must have the form of headers, so that a
/// client that has switched to lines gets an error immediately instead of a server that waits for
/// the end of the headers.
struct HeaderBlock {
  /// The number of bytes in the lines so far, including line ends.
  private(set) var byteCount = 0
  private(set) var contentLength: Int?

  /// The result of a line.
  enum Progress: Equatable {
    case more
    /// The empty line that ends the headers; a body of this many bytes follows.
    case body(Int)
  }

  /// Reads the next line, without its `\n`; removes a `\r` at its end.
  mutating func take(_ line: UnsafeRawBufferPointer) throws(HeaderFault) -> Progress {
    byteCount += line.count + 1
    guard byteCount <= FrameReader.maximumHeaderBytes else { throw .tooLong }
    let line = line.withoutCarriageReturn
    if line.isEmpty {
      guard let contentLength else { throw .missingLength }
      return .body(contentLength)
    }
    let nameEnd = line.firstIndex { !Self.isTokenByte($0) } ?? line.count
    guard nameEnd > 0, nameEnd < line.count, line[nameEnd] == UInt8(ascii: ":") else {
      throw .malformedLine
    }
    if Self.isContentLength(line[..<nameEnd]) {
      let length = try Self.length(line[(nameEnd + 1)...])
      guard contentLength == nil || contentLength == length else { throw .conflictingLengths }
      contentLength = length
    }
    return .more
  }

  /// Parses the value of `Content-Length`.
  ///
  /// - Source: RFC 9110 §8.6: `1*DIGIT`, optionally surrounded by white space (§5.5).
  private static func length(_ value: Slice<UnsafeRawBufferPointer>) throws(HeaderFault) -> Int {
    var digits = value.drop(while: isBlank)
    while let last = digits.last, isBlank(last) { digits.removeLast() }
    guard !digits.isEmpty else { throw .invalidLength }
    var length = 0
    for byte in digits {
      let digit = byte &- UInt8(ascii: "0")
      let (shifted, overflow) = length.multipliedReportingOverflow(by: 10)
      let (sum, carry) = shifted.addingReportingOverflow(Int(digit))
      guard digit < 10, !overflow, !carry else { throw .invalidLength }
      length = sum
    }
    return length
  }

  private static func isContentLength(_ name: Slice<UnsafeRawBufferPointer>) -> Bool {
    let expected: StaticString = "content-length"
    return expected.withUTF8Buffer { expected in
      // The lower-case bit changes neither a lower-case letter nor the hyphen.
      name.count == expected.count && zip(name, expected).allSatisfy { $0 | 0x20 == $1 }
    }
  }

  /// Returns true for a byte that a header's name may contain.
  ///
  /// - Source: RFC 9110 §5.6.2.
  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#"),
      UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"),
      UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"),
      UInt8(ascii: "~"):
      true
    default:
      false
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }
}
