// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import TestSupport
import Testing

@testable import Conversations

@Suite("Relayed messages")
struct RelayedMessagesTests {
  /// Takes texts of one side, in pieces of one byte or as a whole.
  private func events(
    _ texts: [(ConversationRecorder.Side, [UInt8])], inPieces: Bool,
    _ messages: RelayedMessages = RelayedMessages()
  ) -> [RelayedMessages.Event] {
    var messages = messages
    var events: [RelayedMessages.Event] = []
    for (side, bytes) in texts {
      for piece in inPieces ? bytes.map({ [$0] }) : [bytes] {
        events += piece.withUnsafeBytes { messages.take($0, from: side) }
      }
    }
    return events + messages.finish(.client) + messages.finish(.server)
  }

  @Test("each side has its framing, and the last line may have no end", arguments: [true, false])
  func frames(inPieces: Bool) {
    let events = events(
      [(.client, Array("1\n22".utf8)), (.server, Array("Content-Length: 3\r\n\r\n333".utf8))],
      inPieces: inPieces)
    #expect(events == ["1", "333", "22"].map { .message(Array($0.utf8)) })
  }

  @Test("messages of a WebSocket are read after both heads", arguments: [true, false])
  func webSocket(inPieces: Bool) {
    let request = Array("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: WebSocket\r\n\r\n".utf8)
    let response = Array("HTTP/1.1 101 Switching\r\n\r\n".utf8)
    let texts: [(ConversationRecorder.Side, [UInt8])] = [
      (.client, request + [0x81, 0x81, 1, 2, 3, 4, UInt8(ascii: "5") ^ 1]),
      (.server, response + [0x89, 0, 0x81, 2, 0x7B, 0x7D]),
      (.client, [0x88, 0x80, 1, 2, 3, 4]), (.server, [0x88, 0x02, 0x03, 0xE8]),
    ]
    #expect(
      events(texts, inPieces: inPieces) == [
        .message(Array("5".utf8)), .message(Array("{}".utf8)), .ended, .ended,
      ])
  }

  @Test("a request for a file is not a message", arguments: [true, false])
  func file(inPieces: Bool) {
    let texts: [(ConversationRecorder.Side, [UInt8])] = [
      (.client, Array("GET /index.html HTTP/1.1\r\n\r\n".utf8)),
      (.server, Array("HTTP/1.1 200 OK\r\n\r\n{}\n".utf8)),
    ]
    #expect(events(texts, inPieces: inPieces).isEmpty)
  }

  @Test("nothing is read after a message that is too large, or bytes that cannot be read")
  func unreadable() {
    let small = RelayedMessages(maximumMessageBytes: 4)
    #expect(
      events(
        [(.client, Array("12345\n1\n".utf8)), (.server, [0x31, 0x0A])], inPieces: false, small
      )
      .first == .unreadable(reason: "a message is too large"))
    #expect(
      events([(.client, Array("Content-Size: 1\r\n\r\n".utf8))], inPieces: true) == [
        .unreadable(reason: "the headers have no Content-Length")
      ])
  }

  @Test("a recording has whole lines of any length, is private, and has one writer")
  func file() throws {
    let folder = try TestFolder()
    let path = folder.path + "/x.conversation"
    try Data("old".utf8).write(to: URL(filePath: path))
    let lines = (0..<200).map { number in
      number == 100 ? String(repeating: "x", count: 20_000) : "c1 --> [\(number)]"
    }
    var file = try RecordingFile(path: path)
    for line in lines { try file.add(line) }
    #expect(throws: FileFault.self) { _ = try RecordingFile(path: path) }
    let text = String(decoding: try TextFile.read(path), as: UTF8.self)
    // A line that crosses a page begins with a blank instead of the sign of a comment.
    let read = text.split(separator: "\n").map { $0.hasPrefix(" ") ? $0.dropFirst() : $0 }
    #expect(read == lines.map { $0[...] })
    #expect(text.contains("\n "))
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }
}
