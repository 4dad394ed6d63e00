// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Wire

@Suite("Frame writer")
struct FrameWriterTests {
  @Test("the writer writes exactly one header, or exactly one newline")
  func exactly() {
    for (framing, message, frame) in [
      (.lines, "{}", "{}\n"),
      (.lines, "", "\n"),
      (.headers, "{}", "Content-Length: 2\r\n\r\n{}"),
      (.headers, "", "Content-Length: 0\r\n\r\n"),
      (.headers, "\"é\"", "Content-Length: 4\r\n\r\n\"é\""),
      (.headers, "0123456789", "Content-Length: 10\r\n\r\n0123456789"),
    ] as [(Framing, String, String)] {
      let bytes = FrameWriter(framing: framing).frame([UInt8](message.utf8))
      #expect(String(decoding: bytes, as: UTF8.self) == frame)
    }
  }

  @Test("the reader reads what the writer has written", arguments: Framing.allCases)
  func roundTrip(_ framing: Framing) {
    let writer = FrameWriter(framing: framing)
    let messages = [1, 9, 10, 99, 100, 12_345].map { [UInt8](repeating: 0x5B, count: $0) }
    var stream: [UInt8] = []
    for message in messages { writer.append(message, to: &stream) }
    #expect(events(in: [stream], limit: 1 << 20) == messages.map { .message($0) })
  }
}
