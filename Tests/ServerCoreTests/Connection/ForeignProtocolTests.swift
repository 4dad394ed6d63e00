// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ServerCore

/// The story: a web page called `fetch` with the port of `--tcp` and a message as the body. The
/// server responded to each header line with -32700, and executed the body.
@Suite("Streams of other protocols", .timeLimit(.minutes(15)))
struct ForeignProtocolTests {
  /// The first bytes of a stream, and true if it is a request that expects an HTTP response.
  static let beginnings: [(String, isHTTP: Bool)] = [
    ("POST / HTTP/1.1\r\nHost: 127.0.0.1:7777\r\nContent-Type: text/plain\r\n\r\n", true),
    ("\r\nPOST / HTTP/1.1\r\nContent-Length: 60\r\n\r\n", true),
    ("CONNECT a:443 HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", true),
    ("OPTIONS * HTTP/1.1\r\n\r\n", true), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", true),
    ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\n", false), ("SSH-2.0-OpenSSH_9.6\r\n", false),
    ("cookie: a\r\nContent-Length: 2\r\n\r\n{}", false), ("\u{FEFF}", false), ("EHLO\r\n", false),
    ("hello\n", false), ("null\n", false), ("\"", false), ("\u{0}", false),
  ]

  private func check(_ client: TestClient, isHTTP: Bool) throws {
    #expect(client.isClosed)
    #expect(client.messageCount == 0)
    let written = String(decoding: client.writes.joined(), as: UTF8.self)
    if isHTTP {
      let parts = written.split(separator: "\r\n\r\n")
      try #require(parts.count == 2, "\(written)")
      #expect(parts[0].hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
      #expect(parts[0].contains("\r\nConnection: close"))
      #expect(parts[0].contains("\r\nContent-Length: \(parts[1].utf8.count)\r\n"))
      #expect(parts[1].contains("JSON-RPC 2.0, not HTTP"))
    } else {
      #expect(written.filter { $0 == "\n" }.count == 1, "\(written)")
      #expect(try Message(written) == Message(expected: failure("null", -32700)))
    }
  }

  @Test(
    "the server responds once to another protocol, closes, and executes nothing",
    arguments: beginnings)
  func refused(_ beginning: String, isHTTP: Bool) throws {
    let stream = Array((beginning + request("1", "ping") + "\n").utf8)
    let whole = TestClient()
    whole.send(bytes: stream)
    try check(whole, isHTTP: isHTTP)
    let cut = TestClient()
    for byte in stream { cut.send(bytes: [byte]) }
    try check(cut, isHTTP: isHTTP)
    for client in [whole, cut] {
      let count = client.writes.count
      client.send(bytes: stream)
      client.tell(.inputEnded)
      client.tell(.timeIsUp)
      #expect(client.writes.count == count)
    }
  }

  @Test(
    "the server closes a stream that ends before its protocol is known",
    arguments: ["POS", "Conte"])
  func cutOff(_ beginning: String) throws {
    let client = TestClient(World(), beginning == "POS" ? .lines : .headers)
    client.send(bytes: Array(beginning.utf8))
    #expect(!client.isClosed)
    #expect(client.connection?.isInFrame == true)
    client.tell(.inputEnded)
    let message = try #require(client.takeMessages().first)
    #expect(try Message(message) == Message(expected: failure("null", -32700)))
    #expect(client.isClosed)
  }

  @Test("a stream that begins with JSON, even invalid JSON, is served")
  func broken() async throws {
    for beginning in ["{oh no\n", "[\n", "{\n", "\n {oh no\n"] {
      let client = TestClient()
      client.send(bytes: Array((beginning + request("1", "ping") + "\n").utf8))
      try await client.expect(failure("null", -32700), response("1"))
      #expect(!client.isClosed)
    }
  }

  @Test("a stream that begins with a header of the Language Server Protocol is served")
  func contentType() async throws {
    let client = TestClient(World(), .headers)
    let message = request("1", "ping")
    client.send(
      bytes: Array(
        "Content-Type: application/vscode-jsonrpc\r\nContent-Length: \(message.utf8.count)\r\n\r\n"
          .utf8) + message.utf8)
    try await client.expect(response("1"))
  }
}
