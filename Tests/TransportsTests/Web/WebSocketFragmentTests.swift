// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import ServerCore
import Testing

@testable import Transports

@Suite("WebSocket fragments")
struct WebSocketFragmentTests {
  /// Forwards all operations.
  private final class Wire: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
  }

  /// Returns a frame of a client, with a mask of zeros.
  private static func frame(_ opcode: UInt8, _ payload: String, isLast: Bool) -> ByteBuffer {
    var buffer = ByteBuffer(bytes: [(isLast ? 0x80 : 0) | opcode, 0x80 | 127])
    buffer.writeInteger(UInt64(payload.utf8.count))
    buffer.writeInteger(UInt32(0))
    buffer.writeString(payload)
    return buffer
  }

  // Fragments were not counted: each connection could hold a frame of the maximum size.
  @Test("fragments count as buffered bytes, and are skipped when there are too many")
  func counted() throws {
    var limits = ServerLimits()
    limits.bufferBytes = 300_000
    let server = EmbeddedServer([], limits: limits)
    defer { try? server.stop() }
    let start = #"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":""#
    let fragment = Self.frame(1, start + String(repeating: "x", count: 200_000), isLast: false)
    let end = Self.frame(0, #""}}"#, isLast: true)
    let ping = Self.frame(1, #"{"jsonrpc":"2.0","id":2,"method":"ping"}"#, isLast: true)
    let channels = try (0..<2).map { _ in try server.connectWebSocket(through: Wire()) }
    for channel in channels { try channel.writeInbound(fragment) }
    for channel in channels { try channel.writeInbound(end) }
    for channel in channels { try channel.writeInbound(ping) }
    server.loop.run()
    let (kept, skipped) = try (channels[0].text(), channels[1].text())
    #expect(kept.contains(#""id":1,"result""#) && !kept.contains("error"))
    #expect(skipped.contains(#"{"limit":"bufferBytes"}"#) && !skipped.contains(#""id":1"#))
    for text in [kept, skipped] { #expect(text.contains(#""id":2,"result""#)) }
    // There is space again.
    try channels[1].writeInbound(fragment)
    try channels[1].writeInbound(end)
    server.loop.run()
    #expect(try channels[1].text().contains(#""id":1,"result""#))
  }
}

extension EmbeddedChannel {
  /// Returns what the client has received since the last call. The heads of frames are decoded as
  /// text, too.
  fileprivate func text() throws -> String {
    var text = ""
    while let bytes = try readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
    return text
  }
}
