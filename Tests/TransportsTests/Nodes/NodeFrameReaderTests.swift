// SPDX-License-Identifier: Apache-2.0

import Testing
import Wire

@testable import Transports

@Suite("Frames from another node")
struct NodeFrameReaderTests {
  private let messages = [#"{"a":1}"#, "+", "[1,2,3]", "-{\"code\":1}", "{}"]

  /// Returns the messages that a reader finds in a stream that arrives in parts of some bytes.
  private func read(parts count: Int) throws -> [String] {
    var stream: [UInt8] = []
    for message in messages {
      FrameWriter(framing: .headers).append(Array(message.utf8), to: &stream)
    }
    var reader = NodeFrameReader()
    var (found, current): ([String], [UInt8]) = ([], [])
    for start in stride(from: 0, to: stream.count, by: count) {
      try Array(stream[start..<min(start + count, stream.count)]).withUnsafeBytes { chunk in
        try reader.read(chunk) { part in
          #expect(part.isFirst == current.isEmpty)
          current += part.bytes
          #expect(part.isLast == (current.count == part.messageBytes))
          #expect(part.isControl == (current[0] != 0x7B && current[0] != 0x5B))
          if part.isLast {
            found.append(String(decoding: current, as: UTF8.self))
            current = []
          }
        }
      }
      if current.isEmpty { #expect(!reader.isInMessage) }
    }
    return found
  }

  @Test("messages are the same, however their bytes arrive", arguments: 1...40)
  func parts(_ count: Int) throws { #expect(try read(parts: count) == messages) }

  @Test(
    "other bytes are a fault",
    arguments: [
      "HTTP/1.1 400 Bad Request\r\n\r\n", "Content-Length: 0\r\n\r\n", "Content-Length: x\r\n\r\n",
      "Content-Length: -1\r\n\r\n", String(repeating: "x", count: 100),
    ])
  func faults(_ text: String) {
    #expect(throws: NodeFrameReader.Fault.self) {
      var reader = NodeFrameReader()
      try Array(text.utf8).withUnsafeBytes { try reader.read($0) { _ in } }
    }
  }
}
