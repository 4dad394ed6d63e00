// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Wire

@Suite("WebSocket reader")
struct WebSocketReaderTests {
  struct Case: CustomTestStringConvertible {
    var name: String
    var frames: [ClientFrame]
    var events: [SeenWebSocketEvent]
    var testDescription: String { name }
  }

  static let limit = 300

  static let cases: [Case] = [
    Case(
      name: "messages", frames: [.text("one"), .text(""), .text("two")],
      events: [.text("one"), .text(""), .text("two")]),
    Case(
      name: "fragments, and control frames between them",
      frames: [
        .text("He", isLast: false), .ping("p"), .more("", isLast: false), .more("llo"),
        .text("next"),
      ], events: [.ping("p"), .text("Hello"), .text("next")]),
    Case(
      name: "a character split between fragments",
      frames: [
        ClientFrame(opcode: 1, payload: [0xE2, 0x82], isLast: false),
        ClientFrame(opcode: 0, payload: [0xAC]),
      ], events: [.text("€")]),
    Case(
      name: "lengths of two and eight bytes",
      frames: [
        .text(String(repeating: "a", count: 126)), .text(String(repeating: "b", count: 300)),
      ],
      events: [
        .text(String(repeating: "a", count: 126)), .text(String(repeating: "b", count: 300)),
      ]),
    Case(
      name: "a message that is too large",
      frames: [.text(String(repeating: "a", count: 301)), .text("next")],
      events: [.tooLarge, .text("next")]),
    Case(
      name: "a message whose length takes eight bytes",
      frames: [.text(String(repeating: "a", count: 70_000)), .text("next")],
      events: [.tooLarge, .text("next")]),
    Case(
      name: "a message too large in fragments; the skipped part is not checked as UTF-8",
      frames: [
        .text(String(repeating: "a", count: 200), isLast: false), .ping(),
        .more(String(repeating: "a", count: 101), isLast: false),
        ClientFrame(opcode: 0, payload: [0xFF], isLast: false), .more("end"), .text("next"),
      ], events: [.ping(""), .tooLarge, .text("next")]),
    Case(
      name: "a message of the maximum size, in fragments",
      frames: [
        .text(String(repeating: "a", count: 200), isLast: false),
        .more(String(repeating: "a", count: 100)),
      ], events: [.text(String(repeating: "a", count: 300))]),
    Case(name: "pongs", frames: [ClientFrame(opcode: 10, payload: [1])], events: [.pong]),
    Case(
      name: "a close", frames: [.close(1001, Array("bye".utf8)), .text("x")],
      events: [.close(1001)]),
    Case(
      name: "a close without a code", frames: [ClientFrame(opcode: 8, payload: [])],
      events: [.close(nil)]),
    Case(
      name: "half of a close code", frames: [ClientFrame(opcode: 8, payload: [3])],
      events: [.fault(1002)]),
    Case(name: "a reason not in UTF-8", frames: [.close(1000, [0xFF])], events: [.fault(1007)]),
    Case(
      name: "a reason that ends within a character", frames: [.close(1000, [0xC3])],
      events: [.fault(1007)]),
    Case(
      name: "text that is not UTF-8",
      frames: [.text("ok"), ClientFrame(opcode: 1, payload: [0xC0, 0x80]), .text("x")],
      events: [.text("ok"), .fault(1007)]),
    Case(
      name: "text that ends within a character", frames: [ClientFrame(opcode: 1, payload: [0xC3])],
      events: [.fault(1007)]),
    Case(
      name: "invalid UTF-8 is reported before the end of the text",
      frames: [ClientFrame(opcode: 1, payload: [0x61, 0xFF], isLast: false)],
      events: [.fault(1007)]),
    Case(
      name: "binary messages, which may hold any bytes",
      frames: [
        ClientFrame(opcode: 2, payload: [0xFF], isLast: false),
        ClientFrame(opcode: 0, payload: [0]),
        .text("a"),
      ],
      events: [.binary([0xFF, 0]), .text("a")]),
    Case(
      name: "no mask", frames: [ClientFrame(opcode: 1, payload: [0x61], mask: nil)],
      events: [.fault(1002)]),
    Case(
      name: "reserved bits", frames: [ClientFrame(opcode: 1, payload: [], reserved: 4)],
      events: [.fault(1002)]),
    Case(name: "a continuation without a message", frames: [.more("x")], events: [.fault(1002)]),
    Case(
      name: "a message inside another", frames: [.text("a", isLast: false), .text("b")],
      events: [.fault(1002)]),
    Case(
      name: "a ping in fragments", frames: [ClientFrame(opcode: 9, payload: [], isLast: false)],
      events: [.fault(1002)]),
    Case(
      name: "a ping that is too long",
      frames: [ClientFrame(opcode: 9, payload: Array(repeating: 1, count: 126))],
      events: [.fault(1002)]),
  ]

  @Test("the reader gives the same events, wherever the stream is split", arguments: cases)
  func events(_ example: Case) {
    let bytes = example.frames.flatMap(\.bytes)
    var whole = WebSocketReader(maximumMessageBytes: Self.limit)
    #expect(whole.events(in: [bytes]) == example.events)
    var single = WebSocketReader(maximumMessageBytes: Self.limit)
    #expect(single.events(in: bytes.map { [$0] }) == example.events)
    for end in bytes.indices where bytes.count < 1000 {
      var reader = WebSocketReader(maximumMessageBytes: Self.limit)
      #expect(
        reader.events(in: [Array(bytes[..<end]), Array(bytes[end...])]) == example.events,
        "split at \(end)")
    }
  }

  @Test(
    "an unknown opcode is a protocol error",
    arguments: [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8])
  func opcodes(_ opcode: UInt8) {
    var reader = WebSocketReader(maximumMessageBytes: 10)
    #expect(reader.events(in: [ClientFrame(opcode: opcode, payload: []).bytes]) == [.fault(1002)])
  }

  @Test(
    "only close codes that may be sent are accepted",
    arguments: [
      (0, false), (999, false), (1000, true), (1003, true), (1004, false), (1005, false),
      (1006, false), (1007, true), (1011, true), (1014, true), (1015, false), (1016, false),
      (2999, false), (3000, true), (4999, true), (5000, false), (65535, false),
    ] as [(UInt16, Bool)])
  func closeCodes(_ code: UInt16, _ mayBeSent: Bool) {
    var reader = WebSocketReader(maximumMessageBytes: 10)
    let events = reader.events(in: [ClientFrame.close(code).bytes])
    #expect(events == [mayBeSent ? .close(code) : .fault(1002)])
  }

  @Test("a length beyond any memory is too large immediately")
  func endless() {
    let head: [UInt8] = [0x81, 0xFF, 0x7F] + Array(repeating: 0xFF, count: 7) + [1, 2, 3, 4]
    var reader = WebSocketReader(maximumMessageBytes: 10)
    #expect(reader.events(in: [head, Array(repeating: 0, count: 100)]) == [.tooLarge])
    let negative: [UInt8] = [0x81, 0xFF] + Array(repeating: 0xFF, count: 8) + [1, 2, 3, 4]
    var other = WebSocketReader(maximumMessageBytes: 10)
    #expect(other.events(in: [negative]) == [.fault(1002)])
  }

  @Test("the sum of the lengths of fragments does not overflow")
  func overflow() {
    var reader = WebSocketReader(maximumMessageBytes: .max)
    let head: [UInt8] = [0x01, 0xFF, 0x7F] + Array(repeating: 0xFF, count: 7) + [0, 0, 0, 0]
    #expect(reader.events(in: [head, [1, 2, 3]]) == [])
    #expect(reader.isInMessage)
  }

  @Test("the reader buffers at most one message, until its end")
  func memory() {
    var reader = WebSocketReader(maximumMessageBytes: 100_000)
    let part = String(repeating: "a", count: 50_000)
    _ = reader.events(in: [ClientFrame.text(part, isLast: false).bytes])
    #expect(reader.isInMessage)
    #expect(reader.bufferedCapacity >= 50_000)
    #expect(reader.events(in: [ClientFrame.more(part).bytes]) == [.text(part + part)])
    #expect(!reader.isInMessage)
    #expect(reader.bufferedCapacity == 0)
    _ = reader.events(in: [ClientFrame.text(part + part, isLast: false).bytes])
    #expect(reader.events(in: [ClientFrame.more("a", isLast: false).bytes]) == [.tooLarge])
    #expect(reader.bufferedCapacity == 0)
  }
}

@Suite("UTF-8 check")
struct UTF8CheckTests {
  /// Returns true if the standard library accepts the bytes as UTF-8.
  private func isUTF8(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

  private func check(_ bytes: [UInt8], cutAt end: Int) -> Bool {
    var check = UTF8Check()
    let isRight = bytes.withUnsafeBytes { bytes in
      check.take(bytes.first(end)) && check.take(bytes.from(end))
    }
    return isRight && check.isComplete
  }

  @Test(
    "the check agrees with the standard library for all boundary sequences of up to three bytes")
  func edges() {
    let edges: [UInt8] = [
      0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC,
      0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
    ]
    for first in edges {
      for second in edges {
        for third in edges {
          for bytes in [[first], [first, second], [first, second, third]] {
            #expect(check(bytes, cutAt: bytes.count / 2) == isUTF8(bytes), "\(bytes)")
          }
          let four = [first, second, third, 0x80]
          #expect(check(four, cutAt: 1) == isUTF8(four), "\(four)")
        }
      }
    }
  }

  @Test("the check agrees with the standard library for longer texts, split at any offset")
  func texts() {
    let text = Array("plain text of ASCII, ä, €, 𝄞 and plain text again".utf8)
    for index in text.indices {
      #expect(check(text, cutAt: index))
      var broken = text
      broken[index] ^= 0x80
      #expect(check(broken, cutAt: index) == isUTF8(broken))
    }
  }
}

@Suite("WebSocket frame head")
struct WebSocketHeadTests {
  @Test(
    "the length is written in the fewest possible bytes",
    arguments: [
      (0, [0x81, 0]), (125, [0x81, 125]), (126, [0x81, 126, 0, 126]),
      (65535, [0x81, 126, 0xFF, 0xFF]), (65536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
    ] as [(Int, [UInt8])])
  func lengths(_ count: Int, _ bytes: [UInt8]) {
    WebSocketHead(.text, payloadBytes: count).withBytes { #expect(Array($0) == bytes) }
  }
}
