// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// Splits a stream of bytes into frames, incrementally.
///
/// The first bytes that are not white space determine the framing for the whole stream, or show
/// that the stream carries another protocol (see `Opening`). White space between frames is skipped,
/// so an empty line is not a frame. In lines, a `\r` before the `\n` is not part of the frame; in
/// headers, a `\n` without `\r` ends a line too.
///
/// The events and their order do not depend on how the stream is divided into chunks.
///
/// - Cost: a frame that is completely inside a chunk is passed on in place. The bytes of other
///   frames are copied once.
/// - Bound: the reader keeps at most `maximumFrameBytes` + 1 or `maximumHeaderBytes` bytes,
///   regardless of the bytes and lengths that a client sends, and none between frames.
/// - Source: Language Server Protocol 3.17, "Base Protocol"; RFC 9110 §5 for the syntax of a
///   header.
public struct FrameReader: Sendable {
  /// The greatest length of a header block in bytes, including line ends.
  public static let maximumHeaderBytes = 8 * 1024

  private enum Position {
    /// The start of the stream, before the framing is known; `partial` contains the first bytes.
    case opening
    /// A position at which a frame may start.
    case betweenFrames
    /// A position inside a line.
    case line
    /// A position inside a line that was too large and has been reported.
    case skippedLine
    /// A position inside a header block.
    case headers(HeaderBlock)
    /// A position inside a body of this many bytes.
    case body(count: Int)
    /// A position inside a body that was too large and has been reported.
    case skippedBody(remaining: Int)
    /// The end: after an unusable header, in another protocol, or after the last byte. Final.
    case ended
  }

  /// The start of an incomplete line or body.
  private var partial: [UInt8] = []

  /// The largest frame that is reported, in bytes: a line without its end, or a body.
  public let maximumFrameBytes: Int

  private var position: Position

  /// The framing of the stream; nil until its first bytes determine it.
  public private(set) var framing: Framing?

  /// Creates a reader at the start of a stream.
  ///
  /// - Parameters:
  ///   - maximumFrameBytes: The largest frame that is reported, in bytes.
  ///   - checksOpening: False if the first byte determines the framing and other protocols are not
  ///     detected. Clients use false, because a server's messages cannot make a client execute
  ///     anything.
  /// - Precondition: `maximumFrameBytes` is positive.
  public init(maximumFrameBytes: Int, checksOpening: Bool = true) {
    precondition(maximumFrameBytes > 0, "maximumFrameBytes must be positive")
    self.maximumFrameBytes = maximumFrameBytes
    position = checksOpening ? .opening : .betweenFrames
  }

  /// The memory of an incomplete frame, in bytes.
  public var partialBytes: Int { partial.capacity }

  /// Skips the rest of the current line or body. No event reports that.
  public mutating func skipFrame() {
    switch position {
    case .line: position = .skippedLine
    case .body(let count): position = .skippedBody(remaining: count - partial.count)
    case .opening, .betweenFrames, .skippedLine, .headers, .skippedBody, .ended: return
    }
    dropPartial()
  }

  /// Reads the next bytes of the stream.
  ///
  /// `body` is called for each event that they complete, in order, and must not access this reader.
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

  /// Reads the next bytes that belong to one part of the stream: a line or the part of it in this
  /// chunk, a header line, a body, or white space.
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

  /// Removes white space and one complete line from the start of a chunk; nearly all input from
  /// clients has this form.
  ///
  /// - Returns: The line as `read` would report it; nil if `readPart` has to read the chunk.
  public func takeLine(from chunk: inout UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard framing == .lines, case .betweenFrames = position else { return nil }
    chunk = chunk.withoutLeadingWhiteSpace
    guard let end = chunk.firstNewline else { return nil }
    let line = chunk.first(end).withoutCarriageReturn
    guard line.count <= maximumFrameBytes else { return nil }
    chunk = chunk.from(end + 1)
    return line
  }

  /// Ends the stream.
  ///
  /// A last line without its `\n` is a frame. Incomplete headers or an incomplete body are reported
  /// as `incomplete`; the client may still be reading, so the server can send an error. Nothing is
  /// reported twice.
  public mutating func finish(_ body: (FrameEvent) -> Void) {
    switch position {
    case .line: reportPartial(withoutCarriageReturn: true, body)
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

  /// Reads the first bytes of the stream until they determine the framing.
  ///
  /// - Returns: The rest of the chunk.
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
        // The first byte determines this and remains in the chunk.
        dropPartial()
        startFrame(next)
        return rest
      case .headers:
        // The first bytes of the header remain in `partial`.
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

  /// Reads the bytes of a line up to its end or the end of the chunk.
  ///
  /// - Returns: The rest of the chunk.
  private mutating func readLine(
    _ chunk: UnsafeRawBufferPointer, _ body: (FrameEvent) -> Void
  ) -> UnsafeRawBufferPointer {
    let end = chunk.firstNewline
    let line = chunk.first(end ?? chunk.count)
    let rest = chunk.from(end.map { $0 + 1 } ?? chunk.count)
    // Both can end in the `\r` of this line's end, which does not count as part of the frame.
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
      reportPartial(withoutCarriageReturn: true, body)
    }
    return rest
  }

  /// Reads a header line, or the part of it in the chunk.
  ///
  /// - Returns: The rest of the chunk.
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

  /// Reads the bytes of a body up to its end or the end of the chunk.
  ///
  /// - Returns: The rest of the chunk.
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
      reportPartial(withoutCarriageReturn: false, body)
    }
    return chunk.from(missing)
  }
}

// MARK: - Incomplete frames

extension FrameReader {
  /// True while a frame is incomplete.
  public var isInFrame: Bool {
    switch position {
    case .opening: !partial.isEmpty
    case .betweenFrames, .ended: false
    case .line, .skippedLine, .headers, .body, .skippedBody: true
    }
  }

  /// The memory allocated for an incomplete frame, in bytes.
  var bufferedCapacity: Int { partial.capacity }

  private mutating func reportPartial(
    withoutCarriageReturn: Bool, _ body: (FrameEvent) -> Void
  ) {
    partial.withUnsafeBytes { bytes in
      body(.message(withoutCarriageReturn ? bytes.withoutCarriageReturn : bytes))
    }
    dropPartial()
  }

  // The memory is not kept for the next frame, so that thousands of idle clients use little memory
  // each.
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
