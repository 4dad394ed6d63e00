// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// Splits a stream of bytes into frames, as the bytes come.
///
/// The first bytes that are not white space decide on the framing, for good, or show that the stream
/// carries another protocol (see `Opening`). Between two frames white space is skipped, so empty lines
/// are none. In lines, a `\r` before the `\n` belongs to neither frame; in headers, a bare `\n` ends a
/// line too.
///
/// What is found, and in which order, does not depend on how the stream was cut into chunks.
///
/// - Cost: a frame that lies whole in a chunk is handed out in place. Of a frame that does not, the
///   bytes are copied once.
/// - Bound: never more than `maximumFrameBytes` + 1 or `maximumHeaderBytes` are kept, whatever a
///   peer sends or declares, and between frames nothing.
/// - Source: Language Server Protocol 3.17, "Base Protocol"; RFC 9110 §5 for the look of a header.
public struct FrameReader: Sendable {
  /// How long one block of headers may be, with its line ends.
  public static let maximumHeaderBytes = 8 * 1024

  private enum Position {
    /// Before the framing is known; `partial` is what has come of the first bytes.
    case opening
    /// Where a frame may start.
    case betweenFrames
    case line
    /// In a line that was too large and has been reported.
    case skippedLine
    case headers(HeaderBlock)
    case body(count: Int)
    /// In a body that was too large and has been reported.
    case skippedBody(remaining: Int)
    /// Behind an unusable header, in another protocol, or at the end. Final.
    case ended
  }

  /// How this stream is framed; nil until its first bytes have shown that.
  public private(set) var framing: Framing?

  /// The largest frame that is handed out: a line without its end, or a body.
  public let maximumFrameBytes: Int

  private var position: Position
  /// The start of a line or body whose end has not come yet.
  private var partial: [UInt8] = []

  /// - Parameters:
  ///   - maximumFrameBytes: The largest frame that is handed out.
  ///   - checksOpening: False where the first byte decides on the framing, and a line may hold
  ///     anything: a client cannot be made to execute what it is sent.
  /// - Precondition: `maximumFrameBytes` is positive.
  public init(maximumFrameBytes: Int, checksOpening: Bool = true) {
    precondition(maximumFrameBytes > 0, "a limit that no frame fits in")
    self.maximumFrameBytes = maximumFrameBytes
    position = checksOpening ? .opening : .betweenFrames
  }

  /// The memory of a frame that has begun and not ended, in bytes.
  public var partialBytes: Int { partial.capacity }

  /// Skips the rest of the line or body that has begun. No event reports that.
  public mutating func skipFrame() {
    switch position {
    case .line: position = .skippedLine
    case .body(let count): position = .skippedBody(remaining: count - partial.count)
    case .opening, .betweenFrames, .skippedLine, .headers, .skippedBody, .ended: return
    }
    dropPartial()
  }

  /// Takes the next bytes of the stream.
  ///
  /// `body` is called for each frame that they complete, in order, and must not touch this reader.
  public mutating func read(_ chunk: UnsafeRawBufferPointer, _ body: (FrameEvent) -> Void) {
    var rest = chunk
    while !rest.isEmpty {
      if let line = takeLine(from: &rest) {
        body(.message(line))
      } else {
        rest = readPart(of: rest, body)
      }
    }
  }

  /// Takes as many of the next bytes as belong to one part of the stream: a line or what a chunk has of
  /// it, a header, a body, white space.
  ///
  /// - Returns: The rest of the chunk.
  public mutating func readPart(
    of chunk: UnsafeRawBufferPointer, _ body: (FrameEvent) -> Void
  ) -> UnsafeRawBufferPointer {
    switch position {
    case .opening:
      return readOpening(chunk, body)
    case .betweenFrames:
      let rest = chunk.withoutLeadingWhiteSpace
      if let first = rest.first { startFrame(first) }
      return rest
    case .line:
      return readLine(chunk, body)
    case .skippedLine:
      guard let end = chunk.firstNewline else { return chunk.from(chunk.count) }
      position = .betweenFrames
      return chunk.from(end + 1)
    case .headers(let block):
      return readHeader(chunk, of: block, body)
    case .body(let count):
      return readBody(chunk, count: count, body)
    case .skippedBody(let remaining):
      let skipped = min(remaining, chunk.count)
      position =
        skipped == remaining ? .betweenFrames : .skippedBody(remaining: remaining - skipped)
      return chunk.from(skipped)
    case .ended:
      return chunk.from(chunk.count)
    }
  }

  /// Takes a line that a chunk begins with off it, as nearly all that peers send comes; and in any case
  /// the white space before it.
  ///
  /// - Returns: The line as `read` would hand it out; nil if what comes next is for `readPart` to tell.
  public func takeLine(from chunk: inout UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard framing == .lines, case .betweenFrames = position else { return nil }
    chunk = chunk.withoutLeadingWhiteSpace
    guard let end = chunk.firstNewline else { return nil }
    let line = chunk.first(end).withoutCarriageReturn
    guard line.count <= maximumFrameBytes else { return nil }
    chunk = chunk.from(end + 1)
    return line
  }

  /// The stream has ended.
  ///
  /// A last line without its `\n` is a frame. Headers or a body that have begun are `incomplete`;
  /// the peer may still be reading, so this can be answered. Nothing is reported twice.
  public mutating func finish(_ body: (FrameEvent) -> Void) {
    switch position {
    case .line: handOutPartial(withoutCarriageReturn: true, body)
    case .headers, .body: body(.unusableHeader(.incomplete))
    case .opening: if !partial.isEmpty { body(.unusableHeader(.incomplete)) }
    case .betweenFrames, .skippedLine, .skippedBody, .ended: break
    }
    end()
  }
}

// MARK: - Parts of a frame

extension FrameReader {
  private mutating func startFrame(_ first: UInt8) {
    let framing = framing ?? Framing(firstByte: first)
    self.framing = framing
    switch framing {
    case .lines: position = .line
    case .headers: position = .headers(HeaderBlock())
    }
  }

  /// - Returns: What is left of the chunk.
  private mutating func readOpening(
    _ chunk: UnsafeRawBufferPointer, _ body: (FrameEvent) -> Void
  ) -> UnsafeRawBufferPointer {
    var rest = partial.isEmpty ? chunk.withoutLeadingWhiteSpace : chunk
    while let next = rest.first {
      partial.append(next)
      switch Opening(partial) {
      case nil:
        rest = rest.from(1)
      case .lines:
        // Its first byte alone shows that, and is left in the chunk.
        dropPartial()
        startFrame(next)
        return rest
      case .headers:
        // Its start stays in `partial`.
        startFrame(partial[0])
        return rest.from(1)
      case .foreign(let other):
        end()
        body(.foreign(other))
        return rest
      }
    }
    return rest
  }

  /// - Returns: What is left of the chunk.
  private mutating func readLine(
    _ chunk: UnsafeRawBufferPointer, _ body: (FrameEvent) -> Void
  ) -> UnsafeRawBufferPointer {
    let end = chunk.firstNewline
    let line = chunk.first(end ?? chunk.count)
    let rest = chunk.from(end.map { $0 + 1 } ?? chunk.count)
    // Both can end in the `\r` of this line's end, which does not count.
    let endsInReturn = (line.last ?? partial.last) == 0x0D
    guard partial.count + line.count - (endsInReturn ? 1 : 0) <= maximumFrameBytes else {
      dropPartial()
      position = end == nil ? .skippedLine : .betweenFrames
      body(.tooLarge)
      return rest
    }
    guard end != nil else {
      partial.append(contentsOf: line)
      return rest
    }
    position = .betweenFrames
    if partial.isEmpty {
      body(.message(line.withoutCarriageReturn))
    } else {
      partial.append(contentsOf: line)
      handOutPartial(withoutCarriageReturn: true, body)
    }
    return rest
  }

  /// - Returns: What is left of the chunk.
  private mutating func readHeader(
    _ chunk: UnsafeRawBufferPointer, of block: HeaderBlock, _ body: (FrameEvent) -> Void
  ) -> UnsafeRawBufferPointer {
    guard let end = chunk.firstNewline else {
      if block.byteCount + partial.count + chunk.count >= Self.maximumHeaderBytes {
        fail(.tooLong, body)
      } else {
        partial.append(contentsOf: chunk)
      }
      return chunk.from(chunk.count)
    }
    var block = block
    do throws(HeaderFault) {
      let progress: HeaderBlock.Progress
      if partial.isEmpty {
        progress = try block.take(chunk.first(end))
      } else if block.byteCount + partial.count + end >= Self.maximumHeaderBytes {
        throw .tooLong
      } else {
        partial.append(contentsOf: chunk.first(end))
        progress = try partial.withRawBytes { line throws(HeaderFault) in try block.take(line) }
        dropPartial()
      }
      switch progress {
      case .more: position = .headers(block)
      case .body(let count): startBody(count: count, body)
      }
    } catch {
      fail(error, body)
    }
    return chunk.from(end + 1)
  }

  private mutating func startBody(count: Int, _ body: (FrameEvent) -> Void) {
    if count > maximumFrameBytes {
      position = .skippedBody(remaining: count)
      body(.tooLarge)
    } else if count == 0 {
      position = .betweenFrames
      body(.message(UnsafeRawBufferPointer(start: nil, count: 0)))
    } else {
      position = .body(count: count)
    }
  }

  /// - Returns: What is left of the chunk.
  private mutating func readBody(
    _ chunk: UnsafeRawBufferPointer, count: Int, _ body: (FrameEvent) -> Void
  ) -> UnsafeRawBufferPointer {
    let missing = count - partial.count
    guard chunk.count >= missing else {
      partial.append(contentsOf: chunk)
      return chunk.from(chunk.count)
    }
    position = .betweenFrames
    if partial.isEmpty {
      body(.message(chunk.first(count)))
    } else {
      partial.append(contentsOf: chunk.first(missing))
      handOutPartial(withoutCarriageReturn: false, body)
    }
    return chunk.from(missing)
  }
}

// MARK: - What is kept

extension FrameReader {
  /// True while a frame has begun and not ended.
  public var isInFrame: Bool {
    switch position {
    case .opening: !partial.isEmpty
    case .betweenFrames, .ended: false
    case .line, .skippedLine, .headers, .body, .skippedBody: true
    }
  }

  /// How much memory waits for the rest of a frame.
  var bufferedCapacity: Int { partial.capacity }

  private mutating func handOutPartial(
    withoutCarriageReturn: Bool, _ body: (FrameEvent) -> Void
  ) {
    partial.withUnsafeBytes { bytes in
      body(.message(withoutCarriageReturn ? bytes.withoutCarriageReturn : bytes))
    }
    dropPartial()
  }

  // Not kept for the next one: thousands of peers that say nothing are to cost little each.
  private mutating func dropPartial() { partial = [] }

  private mutating func fail(_ fault: HeaderFault, _ body: (FrameEvent) -> Void) {
    end()
    body(.unusableHeader(fault))
  }

  private mutating func end() {
    position = .ended
    partial = []
  }
}
