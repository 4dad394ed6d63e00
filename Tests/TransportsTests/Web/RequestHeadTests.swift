// SPDX-License-Identifier: Apache-2.0

import ServerCore
import Testing

@testable import Transports

@Suite("Head of an HTTP request")
struct RequestHeadTests {
  private func read(_ text: String) throws(RequestHead.Fault) -> (RequestHead, Int)? {
    let bytes = Array(text.utf8)
    return try bytes.span.withUnsafeBytes { bytes throws(RequestHead.Fault) in
      try RequestHead.read(bytes).map { ($0.head, $0.byteCount) }
    }
  }

  @Test("a complete head is read, and the bytes after it are left")
  func whole() throws {
    let text = "GET /a?b HTTP/1.1\r\nHost:  x:1 \r\nA: \r\nAccept-X: a,b\r\n\r\n"
    let (head, count) = try #require(try read("\r\n" + text + "rest"))
    #expect(count == text.utf8.count + 2)
    #expect(head.method == "GET")
    #expect(head.target == "/a?b")
    #expect(head.path == "/a")
    #expect(!head.isOld)
    #expect(
      head.fields.map(\.name) == ["host", "a", "accept-x"]
        && head.fields.map(\.value) == ["x:1", "", "a,b"])
  }

  @Test("the reader waits for an incomplete head, wherever it is split")
  func parts() throws {
    let text = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    for end in text.indices { #expect(try read(String(text[..<end])) == nil) }
    #expect(try read(text) != nil)
  }

  @Test(
    "an invalid head is refused",
    arguments: [
      "GET / HTTP/1.1\nHost: x\n\n", "GET  / HTTP/1.1\r\n\r\n", "GET /\r\n\r\n",
      "GET / HTTP/2.0\r\n\r\n", "GET / http/1.1\r\n\r\n", "G(T / HTTP/1.1\r\n\r\n",
      "GET x HTTP/1.1\r\n\r\n", "GET ftp://x/ HTTP/1.1\r\n\r\n", "GET http:x/ HTTP/1.1\r\n\r\n",
      "GET http:///a HTTP/1.1\r\n\r\n", "GET http://a@x/ HTTP/1.1\r\n\r\n",
      "GET http://x:y/ HTTP/1.1\r\n\r\n", "GET ://x/ HTTP/1.1\r\n\r\n",
      "CONNECT x:80 HTTP/1.1\r\n\r\n", "OPTIONS * HTTP/1.1\r\n\r\n", "GET /\u{e9} HTTP/1.1\r\n\r\n",
      "GET /\t HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
      "GET / HTTP/1.1\r\n: x\r\n\r\n", "GET / HTTP/1.1\r\nHost\r\n\r\n",
      "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", "GET / HTTP/1.1\r\nA: b\u{0}\r\n\r\n",
      "GET / HTTP/1.1\r\nA: b\rc\r\n\r\n", "\u{16}\u{3}\u{1}\n", "{\"jsonrpc\":\"2.0\"}\n",
    ])
  func faults(_ text: String) {
    #expect(throws: RequestHead.Fault(status: .badRequest)) { try read(text) }
  }

  /// - Source: RFC 9112 §3.2.2: a server accepts the absolute form, which clients send to a proxy.
  @Test(
    "the target may contain the host",
    arguments: [
      ("http://x/a?b", "x", nil, "/a?b"), ("HTTPS://X:1/", "x", "1", "/"),
      ("http://x", "x", nil, "/"),
      ("http://[::1]:80?b", "[::1]", "80", "/?b"), ("/http://x/", nil, nil, "/http://x/"),
    ] as [(String, String?, String?, String)])
  func absoluteForm(_ text: String, _ host: String?, _ port: String?, _ target: String) throws {
    let (head, _) = try #require(try read("GET \(text) HTTP/1.1\r\nHost: y\r\n\r\n"))
    #expect(head.authority?.host == host)
    #expect(head.authority?.port == port)
    #expect(head.target == target)
  }

  @Test("random bytes cause at most a fault", arguments: 0..<20)
  func garbage(_ seed: Int) {
    var numbers = FixedNumbers(seed: UInt64(seed))
    let whole = Array(
      "GET /a?b HTTP/1.1\r\nHost: x:1 \r\nConnection: a, upgrade\r\nContent-Length: 0\r\n\r\n".utf8)
    for _ in 0..<2000 {
      var bytes = whole
      for _ in 0...(numbers.next() % 4) {
        let index = Int(numbers.next() % UInt64(bytes.count))
        switch numbers.next() % 3 {
        case 0: bytes[index] = UInt8(truncatingIfNeeded: numbers.next())
        case 1: bytes.remove(at: index)
        default: bytes.insert("\r\n: \t,;\0\u{7F}".utf8.randomElement(using: &numbers)!, at: index)
        }
      }
      let read = bytes.withUnsafeBytes { try? RequestHead.read($0) }
      guard let (head, count) = read ?? nil else { continue }
      #expect(count <= bytes.count && head.target.hasPrefix("/"))
      #expect(head.fields.allSatisfy { !$0.name.isEmpty && !$0.value.contains("\r\n") })
      _ = (head.path, head.hasBody, head.keepsAlive, head.wantsWebSocket)
    }
  }

  @Test("a head is limited in bytes and in fields")
  func bounds() throws {
    let long = String(repeating: "a", count: RequestHead.maximumBytes)
    #expect(throws: RequestHead.Fault(status: .fieldsTooLarge)) { try read("GET /\(long)") }
    #expect(throws: RequestHead.Fault(status: .fieldsTooLarge)) {
      try read("GET / HTTP/1.1\r\nA: \(long)\r\n\r\n")
    }
    let many = String(repeating: "A: b\r\n", count: 101)
    #expect(throws: RequestHead.Fault(status: .fieldsTooLarge)) {
      try read("GET / HTTP/1.1\r\n\(many)\r\n")
    }
    #expect(try read("GET / HTTP/1.1\r\n\(many.dropLast(5))\r\n") != nil)
  }

  @Test(
    "the head shows if the client requests a WebSocket",
    arguments: [
      ("Upgrade: websocket\r\nConnection: Upgrade", true),
      ("upgrade: WebSocket\r\nconnection: keep-alive, \tUPGRADE", true),
      ("Upgrade: h2c, websocket\r\nConnection: close\r\nConnection: upgrade", true),
      ("Upgrade: websocket", false), ("Connection: upgrade", false),
      ("Upgrade: h2c\r\nConnection: Upgrade", false),
      ("Upgrade: websocketx\r\nConnection: upgrade", false),
      // The Kelvin sign is not the letter K.
      ("Upgrade: websoc\u{212A}et\r\nConnection: Upgrade", false),
    ])
  func upgrades(_ fields: String, _ expected: Bool) throws {
    #expect(try read("GET / HTTP/1.1\r\n\(fields)\r\n\r\n")?.0.wantsWebSocket == expected)
    #expect(try read("GET / HTTP/1.0\r\n\(fields)\r\n\r\n")?.0.wantsWebSocket == false)
  }

  @Test("the head shows if a body follows, and if the connection stays open")
  func body() throws {
    func head(_ fields: String, _ version: String = "1.1") throws -> RequestHead {
      try #require(try read("GET / HTTP/\(version)\r\n\(fields)\r\n\r\n")).0
    }
    #expect(try !head("A: b").hasBody)
    #expect(try !head("Content-Length: 0").hasBody)
    #expect(try head("Content-Length: 1").hasBody)
    #expect(try head("Content-Length: 0\r\nContent-Length: 0").hasBody)
    #expect(try head("Transfer-Encoding: chunked").hasBody)
    #expect(try head("A: b").keepsAlive)
    #expect(try !head("Connection: a, Close").keepsAlive)
    #expect(try !head("Connection: keep-alive", "1.0").keepsAlive)
  }
}
