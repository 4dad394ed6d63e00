// SPDX-License-Identifier: Apache-2.0

/// What stands before the payload of a WebSocket frame that a server sends: whole, and not masked.
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

  /// - Parameters:
  ///   - kind: What the frame is.
  ///   - payloadBytes: How long its payload is; at most 125 for what is neither text nor binary.
  public init(_ kind: Kind, payloadBytes: Int) {
    self.kind = kind
    self.payloadBytes = payloadBytes
  }

  /// Calls `body` with the bytes, which are valid during that call.
  public func withBytes(_ body: (UnsafeRawBufferPointer) -> Void) {
    withUnsafeTemporaryAllocation(byteCount: Self.maximumBytes, alignment: 1) { buffer in
      buffer[0] = 0x80 | kind.rawValue
      let lengthBytes: Int
      switch payloadBytes {
      case ...125:
        buffer[1] = UInt8(payloadBytes)
        lengthBytes = 0
      case ...0xFFFF:
        buffer[1] = 126
        lengthBytes = 2
      default:
        buffer[1] = 127
        lengthBytes = 8
      }
      for index in 0..<lengthBytes {
        buffer[2 + index] = UInt8(
          truncatingIfNeeded: payloadBytes >> ((lengthBytes - 1 - index) * 8))
      }
      body(UnsafeRawBufferPointer(rebasing: buffer[..<(2 + lengthBytes)]))
    }
  }

  private static let maximumBytes = 10
}
