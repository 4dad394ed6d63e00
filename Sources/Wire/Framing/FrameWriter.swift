// SPDX-License-Identifier: Apache-2.0

/// Puts messages into frames.
///
/// In headers, exactly `Content-Length: N\r\n\r\n` is written before a message; in lines, exactly
/// `\n` behind it. Compact JSON has no `\n` inside; whoever frames something else as a line sends
/// two lines.
public struct FrameWriter: Sendable {
  public let framing: Framing

  public init(framing: Framing) {
    self.framing = framing
  }

  /// Calls `write` with the parts of the message's frame, in order.
  ///
  /// The bytes are valid during that call.
  public func write(
    _ message: UnsafeRawBufferPointer, to write: (UnsafeRawBufferPointer) -> Void
  ) {
    switch framing {
    case .lines:
      write(message)
      let end: StaticString = "\n"
      end.withUTF8Buffer { write(UnsafeRawBufferPointer($0)) }
    case .headers:
      Self.withHeaders(messageBytes: message.count, write)
      write(message)
    }
  }

  /// Appends the message's frame to bytes.
  public func append(_ message: [UInt8], to bytes: inout [UInt8]) {
    bytes.reserveCapacity(bytes.count + message.count + Self.maximumOverhead)
    message.withUnsafeBytes { message in
      write(message) { bytes.append(contentsOf: $0) }
    }
  }

  /// The message's frame.
  public func frame(_ message: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    append(message, to: &bytes)
    return bytes
  }

  /// How much longer a frame can be than its message.
  static let maximumOverhead = 16 + 19 + 4

  /// Calls `body` with the header block of a message of so many bytes, which is valid during that call.
  public static func withHeaders(
    messageBytes: Int, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    withUnsafeTemporaryAllocation(byteCount: maximumOverhead, alignment: 1) { buffer in
      // Written from the end, since that is how digits come.
      var start = buffer.count
      func prepend(_ text: StaticString) {
        text.withUTF8Buffer { text in
          start -= text.count
          UnsafeMutableRawBufferPointer(rebasing: buffer[start..<(start + text.count)])
            .copyMemory(from: UnsafeRawBufferPointer(text))
        }
      }
      prepend("\r\n\r\n")
      var rest = UInt(bitPattern: messageBytes)
      repeat {
        start -= 1
        buffer[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      prepend("Content-Length: ")
      body(UnsafeRawBufferPointer(rebasing: buffer[start...]))
    }
  }
}
