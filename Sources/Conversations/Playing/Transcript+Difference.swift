// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

extension Transcript {
  /// The first line in which two transcripts differ.
  struct Difference {
    /// The number of the line in the transcript, from 1.
    let number: Int
    /// The line of the conversation whose step gave the line.
    let source: Int
    /// The two lines, near the position where they differ.
    let own: String
    let other: String
  }

  func firstDifference(from other: Transcript) -> Difference? {
    let count = max(lines.count, other.lines.count)
    guard let index = (0..<count).first(where: { self[$0]?.bytes != other[$0]?.bytes }) else {
      return nil
    }
    let (mine, others) = (self[index], other[index])
    let common = zip(mine?.bytes ?? [], others?.bytes ?? []).prefix { $0 == $1 }.count
    return Difference(
      number: index + 1, source: mine?.source ?? others?.source ?? 0,
      own: mine.shown(from: common), other: others.shown(from: common))
  }

  private subscript(index: Int) -> Line? { index < lines.count ? lines[index] : nil }
}

extension Transcript.Line? {
  /// Returns the line from shortly before an offset.
  fileprivate func shown(from offset: Int) -> String {
    guard let bytes = self?.bytes else { return "the transcript has ended" }
    let skipped = Swift.max(0, offset - 80)
    // Must not start inside a character.
    let rest = bytes.dropFirst(skipped).drop { skipped > 0 && $0 & 0xC0 == 0x80 }
    return (skipped > 0 ? "…" : "") + Array(rest).readable.shortened(to: 400)
  }
}
