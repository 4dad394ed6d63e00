// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Wire

@Suite("The reader of WebSockets")
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
      name: "a character cut in two",
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
      name: "one whose length takes eight bytes",
      frames: [.text(String(repeating: "a", count: 70_000)), .text("next")],
      events: [.tooLarge, .text("next")]),
    Case(
      name: "one that is too large in fragments, and no UTF-8 where it is skipped",
      frames: [
        .text(String(repeating: "a", count: 200), isLast: false), .ping(),
        .more(String(repeating: "a", count: 101), isLast: false),
        ClientFrame(opcode: 0, payload: [0xFF], isLast: false), .more("end"), .text("next"),
      ], events: [.ping(""), .tooLarge, .text("next")]),
    Case(
      name: "as large as may be, in fragments",
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
      name: "half a code", frames: [ClientFrame(opcode: 8, payload: [3])], events: [.fault(1002)]),
    Case(name: "a reason that is no UTF-8", frames: [.close(1000, [0xFF])], events: [.fault(1007)]),
    Case(
      name: "a reason cut in a character", frames: [.close(1000, [0xC3])],
      events: [.fault(1007)]),
    Case(
      name: "text that is no UTF-8",
      frames: [.text("ok"), ClientFrame(opcode: 1, payload: [0xC0, 0x80]), .text("x")],
      events: [.text("ok"), .fault(1007)]),
    Case(
      name: "text that ends in a character", frames: [ClientFrame(opcode: 1, payload: [0xC3])],
      events: [.fault(1007)]),
    Case(
      name: "text that cannot become UTF-8 is told before its end",
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
    Case(name: "a continuation of nothing", frames: [.more("x")], events: [.fault(1002)]),
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

  @Test("finds the same, however a stream is cut", arguments: cases)
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
        "cut at \(end)")
    }
  }

  @Test("knows no opcode but six", arguments: [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8])
  func opcodes(_ opcode: UInt8) {
    var reader = WebSocketReader(maximumMessageBytes: 10)
    #expect(reader.events(in: [ClientFrame(opcode: opcode, payload: []).bytes]) == [.fault(1002)])
  }

  @Test(
    "takes the close codes that may be sent",
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

  @Test("a length that no memory has is too large at once")
  func endless() {
    let head: [UInt8] = [0x81, 0xFF, 0x7F] + Array(repeating: 0xFF, count: 7) + [1, 2, 3, 4]
    var reader = WebSocketReader(maximumMessageBytes: 10)
    #expect(reader.events(in: [head, Array(repeating: 0, count: 100)]) == [.tooLarge])
    let negative: [UInt8] = [0x81, 0xFF] + Array(repeating: 0xFF, count: 8) + [1, 2, 3, 4]
    var other = WebSocketReader(maximumMessageBytes: 10)
    #expect(other.events(in: [negative]) == [.fault(1002)])
  }

  @Test("lengths of fragments do not overflow their sum")
  func overflow() {
    var reader = WebSocketReader(maximumMessageBytes: .max)
    let head: [UInt8] = [0x01, 0xFF, 0x7F] + Array(repeating: 0xFF, count: 7) + [0, 0, 0, 0]
    #expect(reader.events(in: [head, [1, 2, 3]]) == [])
    #expect(reader.isInMessage)
  }

  @Test("keeps no more than a message, and that only until its end")
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

@Suite("UTF-8 in pieces")
struct UTF8CheckTests {
  /// Whether the standard library takes bytes for UTF-8.
  private func isUTF8(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

  private func check(_ bytes: [UInt8], cutAt end: Int) -> Bool {
    var check = UTF8Check()
    let isRight = bytes.withUnsafeBytes { bytes in
      check.take(bytes.first(end)) && check.take(bytes.from(end))
    }
    return isRight && check.isComplete
  }

  @Test("agrees with the standard library on every sequence of up to three bytes, at the edges")
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

  @Test("agrees on longer texts, wherever they are cut")
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

@Suite("The head of a WebSocket frame")
struct WebSocketHeadTests {
  @Test(
    "says the length in as few bytes as it takes",
    arguments: [
      (0, [0x81, 0]), (125, [0x81, 125]), (126, [0x81, 126, 0, 126]),
      (65535, [0x81, 126, 0xFF, 0xFF]), (65536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
    ] as [(Int, [UInt8])])
  func lengths(_ count: Int, _ bytes: [UInt8]) {
    WebSocketHead(.text, payloadBytes: count).withBytes { #expect(Array($0) == bytes) }
  }
}
