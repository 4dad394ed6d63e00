// SPDX-License-Identifier: Apache-2.0

/// What stands before the payload of a whole WebSocket frame.
///
/// - Source: RFC 6455 §5.2.
public struct WebSocketHead: Sendable {
  /// What a frame is.
  public enum Kind: UInt8, Sendable {
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA
  }

  private let kind: Kind
  private let payloadBytes: Int
  private let mask: UInt32?

  /// - Parameters:
  ///   - kind: What the frame is.
  ///   - payloadBytes: How long its payload is; at most 125 for what is neither text nor binary.
  ///   - mask: What the payload is masked with, from its highest byte on; a client has one, a server
  ///     has none.
  public init(_ kind: Kind, payloadBytes: Int, mask: UInt32? = nil) {
    self.kind = kind
    self.payloadBytes = payloadBytes
    self.mask = mask
  }

  /// Calls `body` with the bytes, which are valid during that call.
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
      append(0x80 | kind.rawValue)
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
}
