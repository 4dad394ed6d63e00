// SPDX-License-Identifier: Apache-2.0

/// Splits the stream of a WebSocket's peer into messages, as the bytes come.
///
/// Fragments are joined, also where control frames stand between them; text is checked to be UTF-8 as
/// it comes, so that a fault is told without waiting for the end of the message. What is found, and in
/// which order, does not depend on how the stream was cut into chunks.
///
/// SwiftNIO's `WebSocketFrameDecoder` keeps each frame until it is whole and gives up on one that is
/// too large; here such a message is passed over, as in the other framings.
///
/// - Cost: a message that lies whole in a chunk is unmasked and handed out in place. Of one that does
///   not, the bytes are copied once.
/// - Bound: never more than `maximumMessageBytes` and 125 bytes of a control frame are kept, whatever a
///   peer sends or declares, and between messages no more than the latter.
/// - Source: RFC 6455 §5 (framing), §7.4 (close codes), §8.1 (UTF-8).
public struct WebSocketReader: Sendable {
  /// The largest message that is handed out.
  public let maximumMessageBytes: Int
  /// Whether the peer is a server, which masks nothing; a client masks all it sends.
  private let isOfServer: Bool

  private enum Position {
    case head
    case payload
    /// Behind a close or a fault. Final.
    case ended
  }

  /// A message that has begun and not ended.
  private struct Message {
    var isText: Bool
    var byteCount = 0
    var isSkipped = false
    var check = UTF8Check()
  }

  private var position = Position.head
  /// The head of a frame so far, its last byte lowest; 14 bytes at most.
  private var head: UInt128 = 0
  private var headBytes = 0
  private var frame = Frame()
  /// How much of the frame's payload has not come.
  private var remaining = 0
  private var message: Message?
  /// The start of a message whose end has not come yet.
  private var partial: [UInt8] = []
  /// The start of a control frame's payload.
  private var control: [UInt8] = []

  /// - Parameters:
  ///   - maximumMessageBytes: The largest message that is handed out.
  ///   - isOfServer: Whether the peer is a server.
  public init(maximumMessageBytes: Int, isOfServer: Bool = false) {
    self.maximumMessageBytes = maximumMessageBytes
    self.isOfServer = isOfServer
  }

  /// Whether a message or a frame has begun and not ended.
  public var isInMessage: Bool {
    switch position {
    case .head: headBytes > 0 || message != nil
    case .payload: true
    case .ended: false
    }
  }

  /// How much memory waits for the rest of a message.
  var bufferedCapacity: Int { partial.capacity + control.capacity }

  /// The memory of a message that has begun and not ended, in bytes.
  public var partialBytes: Int { partial.capacity }

  /// Skips the rest of the message that has begun; whoever calls it reports that.
  public mutating func skipMessage() {
    guard message != nil else { return }
    message?.isSkipped = true
    dropPartial()
  }

  /// Takes the next bytes of the stream, and unmasks them in place.
  ///
  /// `body` is called for each event that they complete, in order, and must not touch this reader.
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
        // What is missing is still to come.
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
    // No extension is ever agreed on, so the reserved bits mean nothing.
    guard !frame.hasReservedBits, frame.isMasked != isOfServer, frame.payloadBytes >= 0 else {
      return .protocolError
    }
    switch frame.opcode {
    case 0x0:
      return message == nil ? .protocolError : nil
    case 0x1, 0x2:
      return message == nil ? nil : .protocolError
    case 0x8, 0x9, 0xA:
      // A close has a code of two bytes or none.
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
    // Whatever the length says, the sum cannot overflow.
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
  /// - Parameters:
  ///   - bytes: What has come of the payload, unmasked.
  ///   - isFirst: Whether nothing of it has come before.
  ///   - body: Where events go.
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

  /// Tells a control frame that is there as a whole.
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

  // Not kept for the next one; see `FrameReader`.
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
  /// What the head of a frame says, and how far its mask has been used.
  private struct Frame {
    private var first: UInt8 = 0
    private(set) var isMasked = false
    /// Negative where it says more than there can be.
    private(set) var payloadBytes = 0
    /// The next byte's part is the lowest.
    private var mask: UInt32 = 0

    var isLast: Bool { first & 0x80 != 0 }
    var hasReservedBits: Bool { first & 0x70 != 0 }
    var opcode: UInt8 { first & 0x0F }
    var isControl: Bool { first & 0x08 != 0 }

    init() {}

    /// Nil while bytes are missing.
    ///
    /// - Parameters:
    ///   - head: The bytes, the last one lowest.
    ///   - bytes: How many there are.
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

    /// Takes the mask off the next bytes of the payload.
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
