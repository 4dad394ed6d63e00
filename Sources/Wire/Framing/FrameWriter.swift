// SPDX-License-Identifier: Apache-2.0

/// A writer that puts messages into frames.
///
/// In headers, it writes exactly `Content-Length: N\r\n\r\n` before a message; in lines, exactly
/// `\n` after it. Compact JSON contains no `\n`; a message that contains one would become two
/// lines.
public struct FrameWriter: Sendable {
  /// The framing of the messages.
  public let framing: Framing

  /// Creates a writer for a framing.
  public init(framing: Framing) {
    self.framing = framing
  }

  /// Calls `write` with the parts of the message's frame, in order.
  ///
  /// The bytes are valid only during that call.
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

  /// Appends the frame of a message to an array of bytes.
  public func append(_ message: [UInt8], to bytes: inout [UInt8]) {
    bytes.reserveCapacity(bytes.count + message.count + Self.maximumOverhead)
    message.withUnsafeBytes { message in
      write(message) { bytes.append(contentsOf: $0) }
    }
  }

  /// Returns the frame of a message.
  public func frame(_ message: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    append(message, to: &bytes)
    return bytes
  }

  /// The greatest difference between the lengths of a frame and its message, in bytes.
  static let maximumOverhead = 16 + 19 + 4

  /// Calls `body` with the header block for a message of this length; the bytes are valid only
  /// during that call.
  public static func withHeaders(
    messageBytes: Int, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    withUnsafeTemporaryAllocation(byteCount: maximumOverhead, alignment: 1) { buffer in
      // Written backwards, because the lowest digit is computed first.
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
