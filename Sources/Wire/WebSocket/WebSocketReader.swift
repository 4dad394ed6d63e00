// SPDX-License-Identifier: Apache-2.0

/// Splits a WebSocket stream into messages, incrementally.
///
/// Fragments are joined, also if control frames are between them. Text is checked for valid UTF-8
/// as it is received, so a fault is reported before the message is complete. The events and their
/// order do not depend on how the stream is divided into chunks.
///
/// SwiftNIO's `WebSocketFrameDecoder` buffers each frame until it is complete and closes the
/// connection if a frame is too large. This reader skips such a message, as in the other framings.
///
/// - Cost: a message that is completely inside a chunk is unmasked and passed on in place. The
///   bytes of other messages are copied once.
/// - Bound: the reader keeps at most `maximumMessageBytes` and 125 bytes of a control frame,
///   regardless of the bytes and lengths that the other endpoint sends, and between messages only
///   the latter.
/// - Source: RFC 6455 §5 (framing), §7.4 (close codes), §8.1 (UTF-8).
public struct WebSocketReader: Sendable {
  /// The largest message that is reported, in bytes.
  public let maximumMessageBytes: Int
  /// True if a server sends the stream: servers do not mask frames, clients mask all frames.
  private let isOfServer: Bool

  private enum Position {
    /// A position in the header of a frame.
    case head
    /// A position in the payload of a frame.
    case payload
    /// The end: after a close or a fault. Final.
    case ended
  }

  /// An incomplete message.
  private struct Message {
    var isText: Bool
    var byteCount = 0
    var isSkipped = false
    var check = UTF8Check()
  }

  private var position = Position.head
  /// The header bytes of the current frame so far, the last byte lowest; at most 14 bytes.
  private var head: UInt128 = 0
  private var headBytes = 0
  private var frame = Frame()
  /// The number of payload bytes that have not been received.
  private var remaining = 0
  private var message: Message?
  /// The start of an incomplete message.
  private var partial: [UInt8] = []
  /// The start of a control frame's payload.
  private var control: [UInt8] = []

  /// Creates a reader at the start of a stream.
  ///
  /// - Parameters:
  ///   - maximumMessageBytes: The largest message that is reported, in bytes.
  ///   - isOfServer: True if a server sends the stream.
  public init(maximumMessageBytes: Int, isOfServer: Bool = false) {
    self.maximumMessageBytes = maximumMessageBytes
    self.isOfServer = isOfServer
  }

  /// True while a message or a frame is incomplete.
  public var isInMessage: Bool {
    switch position {
    case .head: headBytes > 0 || message != nil
    case .payload: true
    case .ended: false
    }
  }

  /// The memory allocated for an incomplete message or control frame, in bytes.
  var bufferedCapacity: Int { partial.capacity + control.capacity }

  /// The memory of an incomplete message, in bytes.
  public var partialBytes: Int { partial.capacity }

  /// Skips the rest of the current message. No event reports that.
  public mutating func skipMessage() {
    guard message != nil else { return }
    message?.isSkipped = true
    dropPartial()
  }

  /// Reads the next bytes of the stream and unmasks them in place.
  ///
  /// `body` is called for each event that they complete, in order, and must not access this reader.
  public mutating func read(
    _ chunk: UnsafeMutableRawBufferPointer, _ body: (WebSocketEvent) -> Void
  ) {
    var rest = chunk
    while true {
      switch position {
      case .head:
        guard let first = rest.first else { return }
        rest = UnsafeMutableRawBufferPointer(rebasing: rest.dropFirst())
        takeHead(first, body)
      case .payload:
        let count = min(remaining, rest.count)
        let bytes = UnsafeMutableRawBufferPointer(rebasing: rest[..<count])
        rest = UnsafeMutableRawBufferPointer(rebasing: rest[count...])
        frame.unmask(bytes)
        let isFirst = remaining == frame.payloadBytes
        remaining -= count
        takePayload(UnsafeRawBufferPointer(bytes), isFirst: isFirst, body)
        // The rest of the payload has not been received.
        if case .payload = position { return }
      case .ended:
        return
      }
    }
  }
}

// MARK: - The head of a frame

extension WebSocketReader {
  private mutating func takeHead(_ byte: UInt8, _ body: (WebSocketEvent) -> Void) {
    head = head << 8 | UInt128(byte)
    headBytes += 1
    guard let read = Frame(head: head, bytes: headBytes) else { return }
    frame = read
    (head, headBytes) = (0, 0)
    if let fault = fault(of: read) { return fail(fault, body) }
    begin(read, body)
  }

  private func fault(of frame: Frame) -> WebSocketCloseCode? {
    // The server negotiates no extensions, so the reserved bits must be 0.
    guard !frame.hasReservedBits, frame.isMasked != isOfServer, frame.payloadBytes >= 0 else {
      return .protocolError
    }
    switch frame.opcode {
    case 0x0:
      return message == nil ? .protocolError : nil
    case 0x1, 0x2:
      return message == nil ? nil : .protocolError
    case 0x8, 0x9, 0xA:
      // A close frame has a code of two bytes or none.
      let isHalfACode = frame.opcode == 0x8 && frame.payloadBytes == 1
      return frame.isLast && frame.payloadBytes <= 125 && !isHalfACode ? nil : .protocolError
    default:
      return .protocolError
    }
  }

  private mutating func begin(_ frame: Frame, _ body: (WebSocketEvent) -> Void) {
    position = .payload
    remaining = frame.payloadBytes
    if frame.isControl { return }
    var message = message ?? Message(isText: frame.opcode == 0x1)
    // The difference is compared, so that no length can make the sum overflow.
    if !message.isSkipped, frame.payloadBytes > maximumMessageBytes - message.byteCount {
      message.isSkipped = true
      dropPartial()
      body(.tooLarge)
    } else if !message.isSkipped {
      message.byteCount += frame.payloadBytes
    }
    self.message = message
  }
}

// MARK: - The payload

extension WebSocketReader {
  /// Handles the next bytes of a payload.
  ///
  /// - Parameters:
  ///   - bytes: The bytes received, unmasked.
  ///   - isFirst: True if they are the first bytes of the payload.
  ///   - body: The receiver of events.
  private mutating func takePayload(
    _ bytes: UnsafeRawBufferPointer, isFirst: Bool, _ body: (WebSocketEvent) -> Void
  ) {
    if frame.isControl {
      takeControl(bytes, isWhole: isFirst && remaining == 0, body)
    } else {
      takeData(bytes, body)
    }
  }

  private mutating func takeData(
    _ bytes: UnsafeRawBufferPointer, _ body: (WebSocketEvent) -> Void
  ) {
    guard var message else { return }
    let isEnd = remaining == 0 && frame.isLast
    if !message.isSkipped, message.isText {
      guard message.check.take(bytes), !isEnd || message.check.isComplete else {
        return fail(.invalidText, body)
      }
    }
    self.message = isEnd ? nil : message
    if remaining == 0 { position = .head }
    if message.isSkipped { return }
    guard isEnd else { return partial.append(contentsOf: bytes) }
    if partial.isEmpty { return body(.message(bytes, isText: message.isText)) }
    partial.append(contentsOf: bytes)
    partial.withUnsafeBytes { body(.message($0, isText: message.isText)) }
    dropPartial()
  }

  private mutating func takeControl(
    _ bytes: UnsafeRawBufferPointer, isWhole: Bool, _ body: (WebSocketEvent) -> Void
  ) {
    if isWhole { return carryOut(bytes, body) }
    control.append(contentsOf: bytes)
    guard remaining == 0 else { return }
    let payload = control
    control = []
    payload.withUnsafeBytes { carryOut($0, body) }
  }

  /// Handles a complete control frame.
  private mutating func carryOut(
    _ payload: UnsafeRawBufferPointer, _ body: (WebSocketEvent) -> Void
  ) {
    position = .head
    switch frame.opcode {
    case 0x9: body(.ping(payload))
    case 0xA: body(.pong)
    default:
      guard payload.count >= 2 else { return end(.close(nil), body) }
      let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
      guard code.mayBeSent else { return fail(.protocolError, body) }
      var check = UTF8Check()
      guard check.take(payload.from(2)), check.isComplete else { return fail(.invalidText, body) }
      end(.close(code), body)
    }
  }

  // The memory is not kept for the next message; see `FrameReader`.
  private mutating func dropPartial() { partial = [] }

  private mutating func fail(_ code: WebSocketCloseCode, _ body: (WebSocketEvent) -> Void) {
    end(.fault(code), body)
  }

  private mutating func end(_ event: WebSocketEvent, _ body: (WebSocketEvent) -> Void) {
    position = .ended
    message = nil
    partial = []
    control = []
    body(event)
  }
}

// MARK: - One frame

extension WebSocketReader {
  /// The header of a frame, and the state of its mask.
  private struct Frame {
    private var first: UInt8 = 0
    private(set) var isMasked = false
    /// Negative if the length does not fit into a signed 64-bit integer.
    private(set) var payloadBytes = 0
    /// The mask, rotated so that the lowest byte is for the next payload byte.
    private var mask: UInt32 = 0

    var isLast: Bool { first & 0x80 != 0 }
    var hasReservedBits: Bool { first & 0x70 != 0 }
    var opcode: UInt8 { first & 0x0F }
    var isControl: Bool { first & 0x08 != 0 }

    init() {}

    /// Parses a header; returns nil while bytes are missing.
    ///
    /// - Parameters:
    ///   - head: The bytes, the last one lowest.
    ///   - bytes: The number of bytes.
    init?(head: UInt128, bytes: Int) {
      guard bytes >= 2 else { return nil }
      let second = UInt8(truncatingIfNeeded: head >> ((bytes - 2) * 8))
      let lengthBytes = second & 0x7F == 127 ? 8 : second & 0x7F == 126 ? 2 : 0
      let maskBytes = second & 0x80 != 0 ? 4 : 0
      guard bytes == 2 + lengthBytes + maskBytes else { return nil }
      first = UInt8(truncatingIfNeeded: head >> ((bytes - 1) * 8))
      isMasked = maskBytes > 0
      switch lengthBytes {
      case 8: payloadBytes = Int(truncatingIfNeeded: head >> (maskBytes * 8))
      case 2: payloadBytes = Int(UInt16(truncatingIfNeeded: head >> (maskBytes * 8)))
      default: payloadBytes = Int(second & 0x7F)
      }
      mask = isMasked ? UInt32(truncatingIfNeeded: head).byteSwapped : 0
    }

    /// Unmasks the next bytes of the payload.
    mutating func unmask(_ bytes: UnsafeMutableRawBufferPointer) {
      guard mask != 0 else { return }
      let wide = UInt64(mask) << 32 | UInt64(mask)
      var offset = 0
      while offset &+ 8 <= bytes.count {
        let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).littleEndian
        bytes.storeBytes(of: (word ^ wide).littleEndian, toByteOffset: offset, as: UInt64.self)
        offset &+= 8
      }
      while offset < bytes.count {
        bytes[offset] ^= UInt8(truncatingIfNeeded: mask)
        mask = mask >> 8 | mask << 24
        offset &+= 1
      }
    }
  }
}
