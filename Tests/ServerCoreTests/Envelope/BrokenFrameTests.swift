// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ServerCore

/// Frames that are not valid JSON. Each gets an error with the id `null`, and the next frame is
/// served.
@Suite("Invalid frames", .timeLimit(.minutes(15)))
struct BrokenFrameTests {
  static let noJSON: [String] = [
    "{", "}", "[", "]", "[1,]", "{\"a\":1,}", "nul", "tru", "+1", "01", "1 2", "{} {}", "[]]",
    "'ping'", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} x", "{\"id\":1 \"a\":2}", "\u{FEFF}{}",
    "\"\\x\"", "\"\\u12\"", "\"a\tb\"", "\u{0}",
    "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},",
    "{\"jsonrpc\":\"2.0\",\"id\":1e,\"method\":\"ping\"}", "\u{C}",
  ]

  @Test("the server responds to invalid JSON with a parse error, and continues", arguments: noJSON)
  func refuses(_ frame: String) async throws {
    try await Script(
      frame, .send(request("0", "ping"), frame, request("1", "ping")),
      .expect(response("0"), failure("null", -32700), response("1"))
    ).run()
  }

  @Test("no part of a batch is executed if the frame is invalid further on")
  func nothingBefore() async throws {
    let send = set("1", 9)
    try await Script(
      "one", .send(subscribe("0")),
      .expect(response("0", #"{"revision":0,"state":{"number":0,"text":""}}"#)),
      .send(String(send.dropLast()) + ",}", "[\(send),", "[\(send)] 1", "[\(send),{\"a\":[1,]}]"),
      .expect(all: Array(repeating: failure("null", -32700), count: 4))
    ).run()
  }

  static let badText: [[UInt8]] = [
    [0xFF], [0xC0, 0xAF], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80],
  ]

  @Test("the server accepts only UTF-8", arguments: badText, Framing.allCases)
  func utf8(_ bytes: [UInt8], framing: Framing) async throws {
    let client = TestClient(World(), framing)
    client.send(request("0", "ping"))
    try await client.expect(response("0"))
    let parts = [
      Array("{\"jsonrpc\":\"2.0\",\"id\":\"".utf8), bytes, Array("\",\"method\":\"ping\"}".utf8),
    ]
    for body in [parts.flatMap(\.self), bytes] {
      client.send(bytes: FrameWriter(framing: framing).frame(body))
      client.send(request("1", "ping"))
      try await client.expect(failure("null", -32700), response("1"))
    }
  }

  @Test("the server responds to an empty body and to white space with a parse error")
  func emptyBody() async throws {
    let client = TestClient(World(), .headers)
    client.send("", request("1", "ping"))
    try await client.expect(failure("null", -32700), response("1"))
    client.send(" \r\n ", request("2", "ping"))
    try await client.expect(failure("null", -32700), response("2"))
  }

  @Test("the server ignores empty lines")
  func emptyLines() async throws {
    let client = TestClient()
    client.send(bytes: Array("\n\r\n  \n\t\n\(request("1", "ping"))\r\n\n".utf8))
    try await client.expect(response("1"))
  }

  @Test(
    "the server survives 100,000 brackets",
    arguments: ["[", "{\"a\":", "[[[{\"a\":"], Framing.allCases)
  func brackets(_ bracket: String, framing: Framing) async throws {
    let client = TestClient(World(), framing)
    let brackets = String(repeating: bracket, count: 100_000)
    client.send(
      brackets, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\(brackets)",
      request("1", "ping"))
    let tooDeep = LimitTests.limit("null", "nesting")
    try await client.expect(tooDeep, tooDeep, response("1"))
  }

  @Test(
    "a message is nested as deeply as the limit allows, including its outermost level",
    arguments: [3, 128])
  func depth(_ limit: Int) async throws {
    var limits = ServerLimits()
    limits.depth = limit
    let client = TestClient(limits: limits)
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    // The message and its parameters are two levels.
    client.send(
      request("1", "ping", "{\"a\":\(nested(limit - 2))}"),
      request("2", "ping", "{\"a\":\(nested(limit - 1))}"), nested(limit + 1),
      request("3", "ping"))
    try await client.expect(
      response("1"), LimitTests.limit("null", "nesting"), LimitTests.limit("null", "nesting"),
      response("3"))
  }

  @Test("a parse error states the path and the byte of the fault")
  func position() async throws {
    let client = TestClient()
    client.send("{\"jsonrpc\":\"2.0\",\"params\":{\"a\":[1,tru]}}")
    #expect(
      try await client.messages(1) == [
        #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"#
          + #""expected true, false or null, found ']' at /params/a/1 (byte 37)"}}"#
      ])
  }

  @Test("a parse error omits a path that is too long")
  func longPath() async throws {
    let client = TestClient()
    let key = String(repeating: "k", count: 10_000)
    client.send(String(repeating: "[", count: 100_000), "{\"\(key)\":x}", "{\"\(key)\":1 2}")
    for message in try await client.messages(3) { #expect(message.utf8.count < 512) }
  }

  @Test(
    "the server reports a frame over the limit once, and serves the next frame",
    arguments: Framing.allCases)
  func tooLarge(_ framing: Framing) async throws {
    var limits = ServerLimits()
    limits.frameBytes = 64
    let fits = request("1", "ping", "{\"a\":\"xxxxxx\"}")
    #expect(fits.utf8.count == 64)
    for byteByByte in [false, true] {
      let client = TestClient(World(), framing, limits: limits)
      let messages = [
        fits, fits + " ", String(repeating: "[", count: 10_000), request("2", "ping"),
      ]
      if byteByByte {
        client.sendByteByByte(messages)
      } else {
        client.send(bytes: client.bytes(of: messages))
      }
      let error = failure("null", -32015, data: "{\"limit\":\"frameBytes\"}")
      try await client.expect(response("1"), error, error, response("2"))
    }
  }

  @Test(
    "the server responds to an unusable header with a parse error, and closes",
    arguments: [
      "Content-Type: x\r\n\r\n{}", "Content-Length: x\r\n\r\n", "Content-Length: -1\r\n\r\n",
      "c\r\n", "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "Content-Length: 99999999999999999999\r\n\r\n",
    ])
  func unusableHeader(_ header: String) async throws {
    let client = TestClient(World(), .headers)
    client.send(request("1", "ping"))
    client.send(bytes: Array(header.utf8))
    try await client.expect(response("1"), failure("null", -32700))
    #expect(client.isClosed)
    client.send(request("2", "ping"))
    client.tell(.inputEnded)
    client.tell(.timeIsUp)
    client.expectNothing()
  }
}
