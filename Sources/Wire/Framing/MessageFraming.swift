// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The framing of the messages for one client.
public enum MessageFraming: Sendable {
  /// Frames in a stream of bytes.
  case stream(Framing)
  /// Text frames of a WebSocket, one per message.
  case webSocket

  /// True if each message is a line.
  @inlinable
  public var isLines: Bool { if case .stream(.lines) = self { true } else { false } }

  /// True for a WebSocket.
  public var isWebSocket: Bool { if case .webSocket = self { true } else { false } }

  /// Frames the message from an offset of a writer to its end.
  ///
  /// - Complexity: O(1) for lines; O(length of the message) otherwise, because the head is inserted
  ///   before it.
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

  /// Writes a part of a message, with the beginning or the end of its frame.
  ///
  /// - Parameters:
  ///   - part: The bytes.
  ///   - messageBytes: The length of the whole message.
  ///   - isFirst: True if the message begins with the part.
  ///   - isLast: True if the message ends with the part.
  ///   - writer: The writer.
  public func frame(
    part: UnsafeRawBufferPointer, of messageBytes: Int, isFirst: Bool, isLast: Bool,
    into writer: inout JSONWriter
  ) {
    switch self {
    case .stream(.lines): break
    case .stream(.headers):
      if isFirst { FrameWriter.withHeaders(messageBytes: messageBytes) { writer.raw($0) } }
    case .webSocket:
      WebSocketHead(textFragmentOf: part.count, isFirst: isFirst, isLast: isLast).withBytes {
        writer.raw($0)
      }
    }
    writer.raw(part)
    if isLast, isLines { writer.raw(byte: UInt8(ascii: "\n")) }
  }

  /// Frames the message that `body` writes.
  public func frame(into writer: inout JSONWriter, _ body: (inout JSONWriter) -> Void) {
    let start = writer.count
    body(&writer)
    frame(in: &writer, from: start)
  }
}
