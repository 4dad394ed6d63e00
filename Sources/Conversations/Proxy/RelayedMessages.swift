// SPDX-License-Identifier: Apache-2.0

import ClientTransports

/// The messages in the bytes of one relayed connection.
///
/// The first bytes of the client show whether the connection uses HTTP; then messages are those of
/// the WebSocket that it opens. Requests for files are not messages.
///
/// - Bound: an incomplete message of each side, at most `maximumMessageBytes`.
struct RelayedMessages {
  /// An event in the bytes of one side.
  enum Event: Equatable {
    case message([UInt8])
    /// The WebSocket was closed by this side.
    case ended
    /// Nothing more can be read on this connection.
    case unreadable(reason: String)
  }

  /// The longest message that is recorded: 16 MiB.
  static let maximumMessageBytes = 16 << 20
  private static let maximumHeadBytes = 16 << 10

  private var client: Direction?
  private var server: Direction?
  private let maximumMessageBytes: Int

  private enum Direction {
    case frames(FrameReader)
    case head([UInt8])
    case webSocket(WebSocketReader)
    /// HTTP without a WebSocket, or after an event `unreadable`.
    case ignored
  }

  init(maximumMessageBytes: Int = maximumMessageBytes) {
    self.maximumMessageBytes = maximumMessageBytes
  }

  /// Reads the next bytes of a side.
  mutating func take(
    _ bytes: UnsafeRawBufferPointer, from side: ConversationRecorder.Side
  ) -> [Event] {
    guard let first = bytes.first else { return [] }
    var direction: Direction
    switch side {
    case .client: direction = client ?? self.direction(first)
    case .server:
      if case .ignored? = client { server = .ignored }
      let usesHTTP = if case .frames? = client { false } else { client != nil }
      direction = server ?? (usesHTTP ? .head([]) : frames)
    }
    // Otherwise the reader would be shared with the stored one, and each read would copy the
    // incomplete message.
    if side == .client { client = .ignored } else { server = .ignored }
    let events = read(bytes, &direction, side)
    if events.contains(where: { if case .unreadable = $0 { true } else { false } }) {
      (client, server) = (.ignored, .ignored)
    } else if side == .client {
      client = direction
    } else {
      server = direction
    }
    return events
  }

  /// Ends the bytes of a side; the last line may have no end.
  mutating func finish(_ side: ConversationRecorder.Side) -> [Event] {
    guard case .frames(var reader) = side == .client ? client : server else { return [] }
    var events: [Event] = []
    reader.finish { events += Self.events($0) }
    if side == .client { client = .ignored } else { server = .ignored }
    return events
  }

  private var frames: Direction {
    .frames(FrameReader(maximumFrameBytes: maximumMessageBytes, checksOpening: false))
  }

  /// Returns the reader for a client whose first byte is this one: a method of HTTP begins with a
  /// capital letter, and so does a header of a frame, which is `Content-…`.
  private func direction(_ first: UInt8) -> Direction {
    first == UInt8(ascii: "G") || first == UInt8(ascii: "H") || first == UInt8(ascii: "P")
      || first == UInt8(ascii: "O") ? .head([]) : frames
  }

  private func read(
    _ bytes: UnsafeRawBufferPointer, _ direction: inout Direction,
    _ side: ConversationRecorder.Side
  ) -> [Event] {
    var events: [Event] = []
    let before = direction
    direction = .ignored
    switch consume before {
    case .frames(var reader):
      reader.read(bytes) { events += Self.events($0) }
      direction = .frames(reader)
    case .webSocket(var reader):
      // The reader unmasks in place.
      var copy = Array(bytes)
      copy.withUnsafeMutableBytes { reader.read($0) { events += Self.events($0) } }
      direction = .webSocket(reader)
    case .head(var head):
      head += bytes
      guard let end = head.firstRange(of: Array("\r\n\r\n".utf8)) else {
        direction = head.count > Self.maximumHeadBytes ? .ignored : .head(head)
        return []
      }
      guard Self.opensWebSocket(String(decoding: head[..<end.lowerBound], as: UTF8.self), side)
      else {
        direction = .ignored
        return []
      }
      direction = .webSocket(
        WebSocketReader(maximumMessageBytes: maximumMessageBytes, isOfServer: side == .server))
      let rest = Array(head[end.upperBound...])
      return rest.withUnsafeBytes { read($0, &direction, side) }
    case .ignored: break
    }
    return events
  }

  private static func opensWebSocket(_ head: String, _ side: ConversationRecorder.Side) -> Bool {
    let lines = head.lowercased().split(separator: "\r\n")
    switch side {
    case .client:
      return lines.contains { $0.hasPrefix("upgrade:") && $0.hasSuffix("websocket") }
    case .server: return lines.first?.hasPrefix("http/1.1 101") == true
    }
  }

  private static func events(_ event: FrameEvent) -> [Event] {
    switch event {
    case .message(let bytes): [.message(Array(bytes))]
    case .tooLarge: [.unreadable(reason: "a message is too large")]
    case .unusableHeader(let fault): [.unreadable(reason: "\(fault)")]
    // Not detected by this reader.
    case .foreign: []
    }
  }

  private static func events(_ event: WebSocketEvent) -> [Event] {
    switch event {
    case .message(let bytes, _): [.message(Array(bytes))]
    case .tooLarge: [.unreadable(reason: "a message is too large")]
    case .ping, .pong: []
    case .close: [.ended]
    case .fault(let code):
      [.unreadable(reason: "a frame of the WebSocket cannot be read (\(code.rawValue))")]
    }
  }
}
