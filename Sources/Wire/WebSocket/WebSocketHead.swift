// SPDX-License-Identifier: Apache-2.0

/// The header of a WebSocket frame.
///
/// - Source: RFC 6455 §5.2.
public struct WebSocketHead: Sendable {
  /// The kind of a frame: its opcode.
  public enum Kind: UInt8, Sendable {
    /// A text message.
    case text = 0x1
    /// A binary message.
    case binary = 0x2
    /// A close frame.
    case close = 0x8
    /// A ping.
    case ping = 0x9
    /// A pong.
    case pong = 0xA
  }

  /// The bit of a message's end, and the opcode.
  private let first: UInt8
  private let payloadBytes: Int
  private let mask: UInt32?

  /// Creates a header.
  ///
  /// - Parameters:
  ///   - kind: The kind of the frame.
  ///   - payloadBytes: The length of the payload in bytes; at most 125 for a close, ping or pong.
  ///   - mask: The key that masks the payload, starting with its highest byte; only clients use
  ///     one.
  public init(_ kind: Kind, payloadBytes: Int, mask: UInt32? = nil) {
    first = Self.end | kind.rawValue
    self.payloadBytes = payloadBytes
    self.mask = mask
  }

  /// Creates the header of a part of a text message.
  ///
  /// - Parameters:
  ///   - payloadBytes: The length of the part in bytes.
  ///   - isFirst: True if the message begins with the part.
  ///   - isLast: True if the message ends with the part.
  public init(textFragmentOf payloadBytes: Int, isFirst: Bool, isLast: Bool) {
    first = (isLast ? Self.end : 0) | (isFirst ? Kind.text.rawValue : 0)
    self.payloadBytes = payloadBytes
    mask = nil
  }

  /// Calls `body` with the bytes of the header, 2 to 14; they are valid only during that call.
  public func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
    withUnsafeTemporaryAllocation(byteCount: Self.maximumBytes, alignment: 1) { buffer in
      var count = 0
      func append(_ number: some FixedWidthInteger) {
        for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
          buffer[count] = UInt8(truncatingIfNeeded: number >> shift)
          count += 1
        }
      }
      let maskBit: UInt8 = mask == nil ? 0 : 0x80
      append(first)
      switch payloadBytes {
      case ...125:
        append(maskBit | UInt8(payloadBytes))
      case ...0xFFFF:
        append(maskBit | 126)
        append(UInt16(payloadBytes))
      default:
        append(maskBit | 127)
        append(UInt64(payloadBytes))
      }
      if let mask { append(mask) }
      body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  private static let maximumBytes = 14
  private static let end: UInt8 = 0x80
}
