// SPDX-License-Identifier: Apache-2.0

/// The conversations in a Markdown file: fenced blocks whose info string starts with the word
/// `conversation`.
///
/// A block that stands in another fenced block is an example of Markdown and none of ours.
enum MarkdownBlocks {
  /// The lines of each such block, in order, with the fences left out.
  ///
  /// - Source: CommonMark 0.31 §4.5; but a fence may be indented by any number of blanks, since it
  ///   may stand in a list. A block that is not closed reaches to the end of the file.
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
    // Backquotes behind backquotes make code inside a line.
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
