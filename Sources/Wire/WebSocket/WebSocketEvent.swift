// SPDX-License-Identifier: Apache-2.0

/// What a `WebSocketReader` found in a stream. Bytes are valid during the call that hands them out.
public enum WebSocketEvent {
  /// One whole message, its fragments joined; text is UTF-8.
  case message(UnsafeRawBufferPointer, isText: Bool)
  /// A message exceeds the limit. It is reported once and skipped; the next one is served.
  case tooLarge
  /// The peer wants these bytes back.
  case ping(UnsafeRawBufferPointer)
  case pong
  /// The peer ends, and says why if it likes. Nothing more is read from the stream.
  case close(WebSocketCloseCode?)
  /// What came breaks the protocol, or is not taken. Nothing more is read from the stream.
  case fault(WebSocketCloseCode)
}

@available(*, unavailable)
extension WebSocketEvent: Sendable {}
