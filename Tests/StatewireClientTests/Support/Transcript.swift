// SPDX-License-Identifier: Apache-2.0

import StatewireClient

/// One conversation of a transcript of `clients/conformance/record`.
struct Conversation {
  /// One message, or the end of a connection.
  struct Line {
    let number: Int
    /// The name of the connection.
    let name: String
    let isSent: Bool
    /// The text after the arrow.
    let text: String
    /// The message; nil for the end of a connection and for texts that no client sends.
    let message: JSONValue?
  }

  let title: String
  var lines: [Line] = []

  /// Reads a transcript.
  static func read(_ bytes: [UInt8]) throws -> [Conversation] {
    var conversations: [Conversation] = []
    // Splits at the byte `\n` only: JSON may contain other line separators.
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() where !line.isEmpty {
      let text = String(decoding: line, as: UTF8.self)
      if text.hasPrefix("# ") {
        conversations.append(Conversation(title: String(text.dropFirst(2))))
        continue
      }
      let isNamed = !text.hasPrefix("--> ") && !text.hasPrefix("<-- ")
      var words = text.split(
        separator: " ", maxSplits: isNamed ? 2 : 1, omittingEmptySubsequences: false)
      let name = isNamed ? String(words.removeFirst()) : ""
      guard words.count == 2, ["-->", "<--"].contains(words[0]), !conversations.isEmpty else {
        throw Unexpected("line \(index + 1) of the transcript is none: \(text.prefix(80))")
      }
      let rest = String(words[1])
      let isMessage = rest.hasPrefix("{") || rest.hasPrefix("[")
      conversations[conversations.count - 1].lines.append(
        Line(
          number: index + 1, name: name, isSent: words[0] == "-->", text: rest,
          message: isMessage
            ? try JSONValue(parsing: Array(rest.utf8), limits: JSONLimits(maximumDepth: 512)) : nil)
      )
    }
    return conversations
  }
}
