// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// What went over the connections of a conversation while it was played, a line each.
///
/// A message is its bytes as they were on the wire, without its frame. What is no JSON in one line
/// is in quotation marks, as a conversation would have it.
///
/// - Order: that of the steps. What the server sends stands where a step has taken it, and not where
///   it arrived, so the order between connections is the same each time. Within one connection it is
///   that of the wire. What no step takes is not in it.
struct Transcript: Sendable {
  /// One message, or the end of something.
  struct Line: Sendable {
    /// Without the end of the line.
    let bytes: [UInt8]
    /// The line of the conversation whose step sent or took it.
    let source: Int
  }

  private(set) var lines: [Line] = []
  /// The line of the conversation that is being played.
  var source = 0

  /// Something that comes to an end.
  enum Ending: String {
    case close
    case input = "end of input"
  }

  mutating func sent(_ message: [UInt8], on name: String) {
    add("-->", name, message.asLine)
  }

  mutating func sent(raw bytes: [UInt8], on name: String) {
    add("-->", name, Array("raw \(bytes.inQuotationMarks)".utf8))
  }

  mutating func received(_ message: [UInt8], on name: String) {
    add("<--", name, message.asLine)
  }

  mutating func ended(_ ending: Ending, of name: String) {
    add("-->", name, Array(ending.rawValue.utf8))
  }

  mutating func closedByServer(_ name: String) {
    add("<--", name, Array(Ending.close.rawValue.utf8))
  }

  private mutating func add(_ arrow: String, _ name: String, _ text: [UInt8]) {
    let prefix = name.isEmpty ? "\(arrow) " : "\(name) \(arrow) "
    lines.append(Line(bytes: Array(prefix.utf8) + text, source: source))
  }
}

extension [UInt8] {
  /// A message in one line.
  fileprivate var asLine: [UInt8] {
    isJSONInOneLine ? self : Array("frame \(inQuotationMarks)".utf8)
  }

  private var isJSONInOneLine: Bool {
    guard !contains(UInt8(ascii: "\n")), !contains(UInt8(ascii: "\r")) else { return false }
    return withUnsafeBytes { bytes in
      do throws(JSONError) {
        var reader = JSONReader(bytes)
        _ = try reader.skipValue()
        try reader.finish()
        return true
      } catch {
        return false
      }
    }
  }

  /// With the escapes that a conversation knows; see `LineCursor.takeQuotedBytes`.
  fileprivate var inQuotationMarks: String {
    let isText = String(validating: self, as: UTF8.self) != nil
    var quoted: [UInt8] = [UInt8(ascii: "\"")]
    for byte in self {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): quoted += [UInt8(ascii: "\\"), byte]
      case UInt8(ascii: "\n"): quoted += "\\n".utf8
      case UInt8(ascii: "\r"): quoted += "\\r".utf8
      case 0x20..<0x7F: quoted.append(byte)
      case 0x80... where isText: quoted.append(byte)
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        quoted += (byte < 16 ? "\\x0\(digits)" : "\\x\(digits)").utf8
      }
    }
    return String(decoding: quoted + [UInt8(ascii: "\"")], as: UTF8.self)
  }
}
