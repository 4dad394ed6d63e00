// SPDX-License-Identifier: Apache-2.0

/// The conversations in a Markdown file: fenced blocks whose info string starts with the word
/// `conversation`.
///
/// A block inside another fenced block is an example of Markdown and not a conversation.
enum MarkdownBlocks {
  /// Returns the lines of each conversation block, in order, without the fences.
  ///
  /// A block that is not closed extends to the end of the file.
  ///
  /// - Source: CommonMark 0.31 §4.5, except that a fence may be indented by any number of blanks,
  ///   because it may be inside a list.
  static func conversations(in lines: [SourceLine]) -> [[SourceLine]] {
    var blocks: [[SourceLine]] = []
    var fence: Fence?
    for line in lines {
      if let open = fence {
        if open.isClosed(by: line) {
          fence = nil
        } else if open.isConversation {
          blocks[blocks.count - 1].append(line.withoutIndentation(upTo: open.indentation))
        }
      } else if let opened = Fence(openedBy: line) {
        fence = opened
        if opened.isConversation { blocks.append([]) }
      }
    }
    return blocks
  }
}

private struct Fence {
  let indentation: Int
  let sign: UInt8
  let count: Int
  let isConversation: Bool

  init?(openedBy line: SourceLine) {
    indentation = line.bytes.prefix { $0 == 0x20 }.count
    let text = line.bytes[indentation...]
    guard let first = text.first, first == UInt8(ascii: "`") || first == UInt8(ascii: "~") else {
      return nil
    }
    sign = first
    count = text.prefix { $0 == first }.count
    let info = text.dropFirst(count)
    // Backquotes after the opening backquotes mean inline code.
    guard count >= 3, first == UInt8(ascii: "~") || !info.contains(first) else { return nil }
    isConversation =
      info.split(whereSeparator: LineCursor.isBlank).first
      .map { $0.elementsEqual("conversation".utf8) } ?? false
  }

  func isClosed(by line: SourceLine) -> Bool {
    let text = line.bytes.drop(while: LineCursor.isBlank)
    let signs = text.prefix { $0 == sign }
    return signs.count >= count && text.dropFirst(signs.count).allSatisfy(LineCursor.isBlank)
  }
}

extension SourceLine {
  fileprivate func withoutIndentation(upTo count: Int) -> SourceLine {
    let dropped = bytes.prefix(count).prefix { $0 == 0x20 }.count
    return SourceLine(
      number: number, indentation: indentation + dropped, bytes: Array(bytes.dropFirst(dropped)))
  }
}
