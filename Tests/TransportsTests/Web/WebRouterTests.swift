// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import Transports

@Suite("Routing of HTTP requests")
struct WebRouterTests {
  private static let webSocket = """
    Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
    """

  private func decide(
    _ request: String, _ fields: String..., site: WebSite = .init(files: ["index.html": [1, 2]]),
    isLoopback: Bool = true
  ) throws -> WebDecision {
    let lines = [request + " HTTP/1.1"] + fields
    let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    let read = try bytes.withUnsafeBytes { try RequestHead.read($0)?.head }
    return try WebRouter(site).decide(#require(read), isLoopback: isLoopback)
  }

  /// Returns the status of the response; 101 for a WebSocket.
  private func status(_ decision: WebDecision) -> Int {
    switch decision {
    case .response(let response): response.status.rawValue
    case .upgrade: 101
    case .open: 0
    }
  }

  @Test("files are available to GET and HEAD")
  func files() throws {
    #expect(try status(decide("GET /", "Host: localhost")) == 200)
    #expect(try status(decide("GET /?a=b", "Host: localhost")) == 200)
    #expect(try status(decide("HEAD /index.html", "Host: localhost")) == 200)
    #expect(try status(decide("GET /nothing", "Host: localhost")) == 404)
    #expect(try status(decide("POST /", "Host: localhost", "Content-Length: 2")) == 405)
    #expect(try status(decide("OPTIONS /", "Host: localhost")) == 405)
    #expect(try status(decide("GET /", "Host: localhost", "Content-Length: 2")) == 400)
    #expect(try status(decide("GET /")) == 400)
    #expect(try status(decide("GET /", "Host: localhost", "Host: localhost")) == 400)
  }

  @Test("a file with a known entity tag is not sent again")
  func tags() throws {
    guard case .response(let first) = try decide("GET /", "Host: localhost") else { return }
    let tag = try #require(first.fields.first { $0.name == "ETag" }?.value)
    #expect(try status(decide("GET /", "Host: localhost", "If-None-Match: \(tag)")) == 304)
    #expect(
      try status(decide("GET /", "Host: localhost", "If-None-Match: \"a\", W/\(tag)")) == 304)
    #expect(try status(decide("GET /", "Host: localhost", "If-None-Match: \"a\"")) == 200)
  }

  @Test(
    "a loopback listener accepts only host names of this machine, and those of allowed origins",
    arguments: [
      ("localhost", true), ("LocalHost:80", true), ("127.0.0.1:8080", true), ("127.1.2.3", true),
      ("[::1]:80", true), ("example.org", false), ("127.0.0.1.example.org", false),
      ("127.0.0.256", false), ("0.0.0.0", false), ("localhost.example.org", false),
      ("app.example:99", true), ("127.0.0.+1", false), ("127.+0.0.1", false),
      ("127.0.0.-0", false), ("127.0.0.", false), ("127.0.0.0001", false),
    ])
  func hosts(_ host: String, _ isAllowed: Bool) throws {
    let site = WebSite(files: ["index.html": [1]], origins: ["https://app.example"])
    #expect(try status(decide("GET /", "Host: \(host)", site: site)) == (isAllowed ? 200 : 403))
    #expect(try status(decide("GET /", "Host: \(host)", site: site, isLoopback: false)) == 200)
    #expect(
      try status(decide("GET /", "Host: \(host)", Self.webSocket, site: site))
        == (isAllowed ? 101 : 403))
    // A host in the target takes precedence over the field.
    for field in ["localhost", "example.org"] {
      #expect(
        try status(decide("GET http://\(host)/", "Host: \(field)", site: site))
          == (isAllowed ? 200 : 403))
      #expect(
        try status(decide("GET http://\(host)", "Host: \(field)", Self.webSocket, site: site))
          == (isAllowed ? 101 : 403))
    }
  }

  @Test("a host in the target does not replace a field that is missing or invalid")
  func absoluteForm() throws {
    #expect(try status(decide("GET http://localhost/")) == 400)
    #expect(try status(decide("GET http://localhost/", "Host: a b")) == 400)
    #expect(
      try status(decide("GET http://localhost/", "Host: localhost", "Host: localhost")) == 400)
    let origin = "Origin: http://app.example"
    #expect(
      try status(decide("GET http://localhost/", "Host: app.example", origin, Self.webSocket))
        == 403)
  }

  @Test(
    "the first offered subprotocol that the server supports is selected",
    arguments: [
      ([], nil), (["statewire"], "statewire"), (["jsonrpc, statewire"], "jsonrpc"),
      (["graphql-ws,statewire", "jsonrpc"], "statewire"), (["mqtt", " jsonrpc "], "jsonrpc"),
      (["mqtt, JSONRPC"], nil),
    ] as [([String], String?)])
  func subprotocols(_ offered: [String], _ agreed: String?) throws {
    let fields = offered.map { "Sec-WebSocket-Protocol: \($0)" }
    let decision = try decide(
      "GET /", (["Host: localhost", Self.webSocket] + fields).joined(separator: "\r\n"))
    guard case .upgrade(let accept, let subprotocol, _) = decision else {
      Issue.record("\(decision)")
      return
    }
    #expect(subprotocol == agreed)
    let head = String(buffer: WebResponse.upgrade(accept, subprotocol: subprotocol))
    let lines = head.split(separator: "\r\n").filter { $0.hasPrefix("Sec-WebSocket-Protocol") }
    #expect(lines == (agreed.map { ["Sec-WebSocket-Protocol: \($0)"] } ?? []))
    #expect(head.hasSuffix("\r\n\r\n"))
  }

  @Test("invalid hosts are refused", arguments: ["", "a b", "a/b", "user@a", "a:b", "[::1"])
  func badHosts(_ host: String) throws {
    #expect(try [400, 403].contains(status(decide("GET /", "Host: \(host)"))))
  }

  @Test(
    "hosts and ports must be ASCII, and other characters are not converted",
    arguments: ["\u{212A}it.example", "a:\u{663}", "a:+80", "\u{FF11}27.0.0.1", "a\u{301}"])
  func otherScripts(_ host: String) {
    #expect(Authority(host) == nil)
    #expect(Origin("http://\(host)") == nil)
  }

  @Test(
    "only pages of the same or an allowed origin can open a WebSocket",
    arguments: [
      ("http://localhost:80", "localhost", true), ("http://localhost", "LOCALHOST:80", true),
      ("https://localhost", "localhost:443", true), ("http://localhost:1", "localhost:1", true),
      ("http://localhost:1", "localhost:2", false), ("http://localhost", "localhost:443", false),
      ("http://evil.example", "localhost", false), ("null", "localhost", false),
      ("http://localhost.evil.example", "localhost", false), ("localhost", "localhost", false),
      ("http://localhost/", "localhost", false), ("http://a@localhost", "localhost", false),
      ("https://app.example", "localhost", true), ("HTTPS://App.Example:443", "localhost", true),
      ("http://app.example", "localhost", false), ("https://app.example:444", "localhost", false),
      ("foo://localhost:80", "localhost:80", false), ("foo://localhost", "localhost", false),
      ("ftp://localhost", "localhost", false), ("1://localhost", "localhost", false),
      ("http+x://localhost", "localhost", false), ("://localhost", "localhost", false),
    ])
  func origins(_ origin: String, _ host: String, _ isAllowed: Bool) throws {
    let site = WebSite(origins: ["https://app.example"])
    #expect(
      try status(decide("GET /", "Host: \(host)", "Origin: \(origin)", Self.webSocket, site: site))
        == (isAllowed ? 101 : 403))
  }

  @Test("a request has at most one origin, and the origin `null` must be allowed explicitly")
  func twoOrigins() throws {
    let origin = "Origin: http://localhost"
    #expect(try status(decide("GET /", "Host: localhost", origin, origin, Self.webSocket)) == 403)
    #expect(
      try status(
        decide(
          "GET /", "Host: localhost", "Origin: null", Self.webSocket, site: .init(origins: ["null"])
        )) == 101)
    #expect(throws: StartupError.self) { try WebRouter(WebSite(origins: ["example.org"])) }
  }

  @Test("an origin with another scheme can be allowed")
  func otherScheme() throws {
    let site = WebSite(origins: ["tauri://localhost"])
    for (origin, expected) in [("tauri://localhost", 101), ("tauri://other", 403)] {
      let fields = "Origin: \(origin)\r\n\(Self.webSocket)"
      #expect(try status(decide("GET /", "Host: localhost", fields, site: site)) == expected)
    }
  }

  @Test("an invalid opening request gets an error")
  func openings() throws {
    let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version:"
    let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    #expect(try status(decide("GET /", "Host: localhost", "\(upgrade) 13", key)) == 101)
    #expect(try status(decide("GET /", "Host: localhost", "\(upgrade) 8", key)) == 426)
    #expect(try status(decide("GET /", "Host: localhost", "\(upgrade) 13")) == 400)
    #expect(try status(decide("GET /", "Host: localhost", "\(upgrade) 13", key, key)) == 400)
    #expect(try status(decide("GET /", "Host: localhost", "\(upgrade) 13", key + "=")) == 400)
    #expect(try status(decide("GET /other", "Host: localhost", "\(upgrade) 13", key)) == 404)
    #expect(try status(decide("GET /echo", "Host: localhost", "\(upgrade) 13", key)) == 404)
    #expect(try status(decide("POST /", "Host: localhost", "\(upgrade) 13", key)) == 405)
  }

  @Test("the echo endpoint exists if it is enabled")
  func echo() throws {
    let site = WebSite(hasEcho: true)
    #expect(try status(decide("GET /echo", "Host: localhost", Self.webSocket, site: site)) == 101)
    #expect(try status(decide("GET /echo", "Host: localhost", site: site)) == 426)
  }

  @Test(
    "paths in a folder consist of plain names",
    arguments: [
      ("/a", ["a"]), ("/a/b-c_d.js", ["a", "b-c_d.js"]), ("/", nil), ("/a/", nil), ("//a", nil),
      ("/../a", nil), ("/a/../b", nil), ("/./a", nil), ("/.git/config", nil), ("/a%2fb", nil),
      ("/a\\b", nil), ("/a:b", nil), ("a", nil),
    ] as [(String, [String]?)])
  func names(_ path: String, _ expected: [String]?) {
    #expect(WebFolder.names(in: path) == expected)
  }

  @Test("a content security policy is a list of directives")
  func policies() throws {
    for policy in [
      WebSite.standardPolicy, "default-src 'self'", "img-src *; upgrade-insecure-requests;",
    ] {
      #expect(try WebRouter(WebSite(contentSecurityPolicy: policy)).policy == policy)
    }
    for policy in ["", " ; ", "'self'", "img-src *\r\nX: y", "img-src é"] {
      #expect(throws: StartupError.self, "\(policy)") {
        try WebRouter(WebSite(contentSecurityPolicy: policy))
      }
    }
  }
}
