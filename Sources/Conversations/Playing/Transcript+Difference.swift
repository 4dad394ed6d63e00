// SPDX-License-Identifier: Apache-2.0

extension Transcript {
  /// The first line in which two transcripts differ.
  struct Difference {
    /// Its number in the transcript, from 1.
    let number: Int
    /// The line of the conversation that it comes from.
    let source: Int
    /// Both lines, around the place where they differ.
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
  /// The line from a little before an offset on.
  fileprivate func shown(from offset: Int) -> String {
    guard let bytes = self?.bytes else { return "nothing more" }
    let skipped = Swift.max(0, offset - 80)
    // Not from within a character.
    let rest = bytes.dropFirst(skipped).drop { skipped > 0 && $0 & 0xC0 == 0x80 }
    return (skipped > 0 ? "…" : "") + Array(rest).readable.shortened(to: 400)
  }
}
