// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// The text of one JSON value, which may continue on further lines.
///
/// It continues while a bracket is open, until a line that is empty, a comment or a statement.
/// Therefore the error for a missing bracket is near the bracket and not at the end of the file.
struct JSONExtent {
  private var segments: [Segment] = []
  private var bytes: [UInt8] = []
  private var depth = 0
  private var endsInString = false

  private struct Segment {
    let line: SourceLine
    /// The offset in the line, in bytes from 0.
    let lineOffset: Int
    /// The offset in `bytes`.
    let start: Int
  }

  init(_ cursor: LineCursor) {
    append(cursor.line, from: cursor.offset)
  }

  /// True while a bracket is open, so that the value is not complete.
  var isOpen: Bool { depth > 0 && !endsInString }

  func canContinue(with line: SourceLine) -> Bool {
    var cursor = LineCursor(line)
    guard let first = cursor.rest.first else { return false }
    if first == UInt8(ascii: "#") || first == UInt8(ascii: "@") { return false }
    return cursor.takeArrow() == nil && !cursor.takeWords("end")
  }

  mutating func append(_ line: SourceLine) {
    bytes.append(UInt8(ascii: "\n"))
    append(line, from: 0)
  }

  private mutating func append(_ line: SourceLine, from offset: Int) {
    segments.append(Segment(line: line, lineOffset: offset, start: bytes.count))
    bytes += line.bytes[offset...]
    var inString = false
    var isEscaped = false
    for byte in line.bytes[offset...] {
      switch byte {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\") where inString: isEscaped = true
      case UInt8(ascii: "\""): inString.toggle()
      case _ where inString: break
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      default: break
      }
    }
    endsInString = inString
  }

  /// Parses the value and returns it with its position.
  func parsed() throws(JSONError) -> SourceValue {
    let value = try JSONValue(parsing: bytes)
    let first = segments[0]
    return SourceValue(
      value: value, extent: self,
      range: SourceRange(
        firstLine: first.line.number,
        firstByte: first.line.indentation + first.lineOffset,
        lastLine: segments[segments.count - 1].line.number))
  }

  /// Returns the line of a byte, and the offset in the line.
  func place(of offset: Int) -> (SourceLine, Int) {
    let segment = segments.last { $0.start <= offset } ?? segments[0]
    return (segment.line, segment.lineOffset + offset - segment.start)
  }

  /// Returns the position of the first occurrence of a text; the start of the value if escapes hide
  /// it.
  func place(of text: String) -> (SourceLine, Int) {
    let text = Array(text.utf8)
    let found = bytes.indices.first { bytes[$0...].starts(with: text) }
    return place(of: found ?? 0)
  }
}

/// A value with its position in the source.
struct SourceValue {
  let value: JSONValue
  let extent: JSONExtent
  let range: SourceRange
}
