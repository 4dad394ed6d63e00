// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A way to frame the messages for one client.
public enum MessageFraming: Sendable {
  case stream(Framing)
  /// Each message is a text frame of a WebSocket.
  case webSocket

  /// True if each message is a line.
  @inlinable
  public var isLines: Bool { if case .stream(.lines) = self { true } else { false } }

  public var isWebSocket: Bool { if case .webSocket = self { true } else { false } }

  /// Frames the message that begins at an offset of a writer and ends where the writer ends.
  @inlinable @inline(__always)
  public func frame(in writer: inout JSONWriter, from start: Int) {
    if isLines { writer.raw(byte: UInt8(ascii: "\n")) } else { addHead(in: &writer, from: start) }
  }

  @usableFromInline
  func addHead(in writer: inout JSONWriter, from start: Int) {
    switch self {
    case .stream(.lines): break
    case .stream(.headers):
      FrameWriter.withHeaders(messageBytes: writer.count - start) { writer.insert($0, at: start) }
    case .webSocket:
      WebSocketHead(.text, payloadBytes: writer.count - start).withBytes {
        writer.insert($0, at: start)
      }
    }
  }

  /// Frames the message that `body` writes.
  public func frame(into writer: inout JSONWriter, _ body: (inout JSONWriter) -> Void) {
    let start = writer.count
    body(&writer)
    frame(in: &writer, from: start)
  }
}
