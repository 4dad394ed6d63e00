// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// The messages on the connections of a conversation while it was played, one per line.
///
/// A line contains the bytes of a message on the wire, without the frame. A message that is not
/// JSON in one line is in quotation marks, as in a conversation.
///
/// - Order: the order of the steps. A received message is in the place of the step that took it, so
///   the order between connections does not depend on arrival times. Within one connection it is
///   the order on the wire. Messages that no step takes are missing.
struct Transcript: Sendable {
  /// One message, or the end of a direction or connection.
  struct Line: Sendable {
    /// The bytes, without the line end.
    let bytes: [UInt8]
    /// The line of the conversation whose step sent or took the message.
    let source: Int
  }

  private(set) var lines: [Line] = []
  /// The line of the step that is being played.
  var source = 0

  /// The end of a direction or of a connection.
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
  /// The message in one line.
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

  /// The bytes in quotation marks, with the escapes of a conversation; see
  /// `LineCursor.takeQuotedBytes`.
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
