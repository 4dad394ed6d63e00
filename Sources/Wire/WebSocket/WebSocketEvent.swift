// SPDX-License-Identifier: Apache-2.0

/// An event that a `WebSocketReader` reports. Bytes are valid only during the call.
public enum WebSocketEvent {
  /// A whole message with its fragments joined; text is valid UTF-8.
  case message(UnsafeRawBufferPointer, isText: Bool)
  /// A message that exceeds the limit. It is reported once and skipped; the reader continues with
  /// the next message.
  case tooLarge
  /// A ping, which requires a pong with the same bytes.
  case ping(UnsafeRawBufferPointer)
  /// A pong.
  case pong
  /// A close frame, with its code if it has one. The reader ignores the rest of the stream.
  case close(WebSocketCloseCode?)
  /// A violation of the protocol, with the close code to send. The reader ignores the rest of the
  /// stream.
  case fault(WebSocketCloseCode)
}

@available(*, unavailable)
extension WebSocketEvent: Sendable {}
