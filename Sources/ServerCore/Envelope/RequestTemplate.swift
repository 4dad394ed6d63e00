// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON

/// The text that `store/send` requests of a frontend have in common: every byte except the id, the
/// sequence and the input.
///
/// A frontend usually writes all its requests in the same way. If a message differs from an
/// accepted one only in these digits and in the input, then the rest has the same meaning and is
/// not parsed again. The comparison is exact: a message with any other difference is parsed
/// completely.
final class RequestTemplate {
  /// The name of the store.
  let store: ByteString
  /// True if the response waits for the effects.
  let settle: Bool
  /// The interval between reads of the clock, in messages of this template; they usually go to one
  /// store kind.
  var pace = ClockInterval()

  private enum Hole { case id, sequence, input }

  /// A part of the fixed text, and the hole next to it.
  private struct Piece: Equatable {
    let fixed: Range<Int>
    let hole: Hole?
  }

  /// The message without the contents of its holes.
  private let fixed: [UInt8]
  /// The pieces before the input, in order; each piece ends at its hole.
  private let before: [Piece]
  /// The pieces after the input, last first; each piece begins at the end of its hole.
  private let after: [Piece]

  /// Creates the template of an accepted message.
  ///
  /// Nil if it could not match other messages, for example if the id is not a plain number, or if
  /// the fixed text is too long.
  ///
  /// - Parameters:
  ///   - message: The whole message, without white space around it.
  ///   - params: The parameters in it.
  ///   - id: The id in it; nil if it has none.
  init?(of message: UnsafeRawBufferPointer, _ params: SendParams, id: UnsafeRawBufferPointer?) {
    guard message.count - params.inputText.count <= Self.maximumBytes else { return nil }
    var holes: [(hole: Hole, place: Range<Int>)] = []
    for (hole, bytes) in [
      (Hole.id, id), (.sequence, params.sequenceText), (.input, params.inputText),
    ] {
      guard let bytes else { continue }
      guard let place = message.place(of: bytes) else { return nil }
      if hole != .input, message.digitsEnd(from: place.lowerBound) != place.upperBound {
        return nil
      }
      holes.append((hole, place))
    }
    holes.sort { $0.place.lowerBound < $1.place.lowerBound }
    guard let input = holes.firstIndex(where: { $0.hole == .input }) else { return nil }

    var fixed: [UInt8] = []
    func keep(_ range: Range<Int>) -> Range<Int> {
      let start = fixed.count
      fixed.append(contentsOf: message[range])
      return start..<fixed.count
    }
    var start = 0
    var before: [Piece] = []
    for (hole, place) in holes[...input] {
      before.append(Piece(fixed: keep(start..<place.lowerBound), hole: hole))
      start = place.upperBound
    }
    var after: [Piece] = []
    for (index, hole) in holes.enumerated() where index >= input {
      let end = index + 1 < holes.count ? holes[index + 1].place.lowerBound : message.count
      let isInput = index == input
      after.append(
        Piece(fixed: keep(hole.place.upperBound..<end), hole: isInput ? nil : hole.hole))
    }
    self.fixed = fixed
    self.before = before
    self.after = after.reversed()
    store = ByteString(params.store.string)
    settle = params.settle
  }

  /// Returns the contents of the holes of a message; nil if the message does not match.
  ///
  /// The input is found by its place only. The caller must read it to its end; if that fails, the
  /// message does not match.
  ///
  /// - Complexity: O(*n*) in the length of the fixed text.
  func match(_ message: UnsafeRawBufferPointer, limits: JSONLimits) -> Match? {
    #if FUZZING
      if FastPaths.areOff { return nil }
    #endif
    var id: UnsafeRawBufferPointer?
    var sequence: Int?
    var start = 0
    var end = message.count
    @inline(__always)
    func note(_ hole: Hole?, _ place: Range<Int>) {
      let bytes = message.part(from: place.lowerBound, to: place.upperBound)
      switch hole {
      case .id: id = bytes
      case .sequence: sequence = bytes.reduce(0) { $0 &* 10 &+ Int($1 &- UInt8(ascii: "0")) }
      case .input, nil: break
      }
    }
    let isSame = fixed.withUnsafeBytes { fixed in
      for piece in before {
        guard message.has(fixed, piece.fixed, at: start) else { return false }
        start &+= piece.fixed.count
        if piece.hole == .input { break }
        guard let next = message.digitsEnd(from: start) else { return false }
        note(piece.hole, start..<next)
        start = next
      }
      for piece in after {
        guard message.has(fixed, piece.fixed, at: end &- piece.fixed.count) else { return false }
        end &-= piece.fixed.count
        if piece.hole == nil { break }
        guard let first = message.digitsStart(before: end) else { return false }
        note(piece.hole, first..<end)
        end = first
      }
      return start < end
    }
    guard isSame else { return nil }
    return Match(
      id: id, sequence: sequence,
      input: JSONReader(
        oneValue: message.part(from: start, to: end), depth: Self.inputDepth, limits: limits))
  }

  /// The parts of a message that differ between messages of a template.
  struct Match {
    let id: UnsafeRawBufferPointer?
    let sequence: Int?
    var input: JSONReader
  }

  /// Returns true if both templates match the same messages.
  func isSame(as other: RequestTemplate) -> Bool {
    fixed == other.fixed && before == other.before && after == other.after
  }

  // The maximum length of the text around an input.
  private static var maximumBytes: Int { 1024 }

  /// Number of objects around the input: the message and its parameters.
  private static var inputDepth: Int { 2 }
}

extension UnsafeRawBufferPointer {
  /// Returns the range of bytes that are a part of this buffer; nil if they are not.
  fileprivate func place(of bytes: UnsafeRawBufferPointer) -> Range<Int>? {
    guard let base = baseAddress, let start = bytes.baseAddress else { return nil }
    let offset = start - base
    guard offset >= 0, offset + bytes.count <= count else { return nil }
    return offset..<offset + bytes.count
  }

  /// Returns true if a range of a fixed text is found at an offset.
  @inline(__always)
  fileprivate func has(
    _ fixed: UnsafeRawBufferPointer, _ range: Range<Int>, at offset: Int
  ) -> Bool {
    guard offset >= 0, count &- offset >= range.count else { return false }
    return part(from: offset, to: offset &+ range.count).hasSameBytes(
      as: fixed.part(from: range.lowerBound, to: range.upperBound))
  }

  // Integers of so many digits are exact in every language.
  private static var maximumDigits: Int { 15 }

  /// Returns the offset after the non-negative integer that starts at an offset; nil if there is
  /// none.
  @inline(__always)
  fileprivate func digitsEnd(from start: Int) -> Int? {
    var end = start
    while end < count, self[end] &- UInt8(ascii: "0") < 10 { end &+= 1 }
    return isNumber(start, end) ? end : nil
  }

  /// Returns the start of the non-negative integer that ends at an offset; nil if there is none.
  @inline(__always)
  fileprivate func digitsStart(before end: Int) -> Int? {
    var start = end
    while start > 0, self[start &- 1] &- UInt8(ascii: "0") < 10 { start &-= 1 }
    return isNumber(start, end) ? start : nil
  }

  /// Returns true if a range of digits is a JSON number.
  @inline(__always)
  private func isNumber(_ start: Int, _ end: Int) -> Bool {
    let length = end &- start
    guard length > 0, length <= Self.maximumDigits else { return false }
    return length == 1 || self[start] != UInt8(ascii: "0")
  }
}
