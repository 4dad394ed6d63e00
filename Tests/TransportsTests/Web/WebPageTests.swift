// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import ServerCore
import TestSupport
import Testing
import TransportTestSupport
import Transports

@Suite("Files over HTTP", .timeLimit(.minutes(15)))
struct WebPageTests {
  static let listener = ServerAddress.web(host: "127.0.0.1", port: 0)

  private func get(_ path: String, _ method: String = "GET") -> String {
    "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n"
  }

  @Test("a connection serves several requests, one after another")
  func keepAlive() async throws {
    let large = [UInt8](repeating: 0x61, count: 1_000_000)
    let site = WebSite(files: ["index.html": Array("<p>".utf8), "a/large.js": large])
    try await withServer(Self.listener, site: site) { server in
      let client = try await RawClient(server.addresses[0])
      try await client.send(get("/") + get("/a/large.js") + get("/none") + get("/", "HEAD"))
      try await client.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      let first = try await client.receiveResponse()
      #expect(first.head.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(first.head.contains("\r\nContent-Type: text/html; charset=utf-8\r\n"))
      #expect(first.head.contains("\r\nX-Content-Type-Options: nosniff"))
      #expect(first.head.contains("\r\nContent-Security-Policy: default-src 'none'; "))
      #expect(first.body == "<p>")
      let second = try await client.receiveResponse()
      #expect(second.head.contains("\r\nContent-Type: text/javascript; charset=utf-8\r\n"))
      #expect(second.body.utf8.count == large.count)
      #expect(try await client.receiveResponse().head.hasPrefix("HTTP/1.1 404 "))
      let rest = String(decoding: try await client.receiveAll(), as: UTF8.self)
      let heads = rest.components(separatedBy: "\r\n\r\n")
      #expect(heads.count == 3 && heads[0].contains("\r\nContent-Length: 3\r\n"))
      #expect(heads.last == "<p>")
      await client.close()
    }
  }

  @Test(
    "an invalid request is refused, and the connection ends",
    arguments: [
      ("nonsense\r\n\r\n", "400"), ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", "400"),
      ("GET / HTTP/1.1\r\n\r\n", "400"),
      ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}", "405"),
      ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403"),
      ("GET /(long)", "431"),
    ])
  func faults(_ text: String, _ status: String) async throws {
    try await withServer(Self.listener, site: .init(files: ["index.html": [1]])) { server in
      let client = try await RawClient(server.addresses[0])
      let long = String(repeating: "a", count: 20_000)
      try await client.send(text.replacingOccurrences(of: "(long)", with: long))
      let response = String(decoding: try await client.receiveAll(), as: UTF8.self)
      #expect(response.hasPrefix("HTTP/1.1 \(status) "))
      #expect(response.contains("\r\nConnection: close\r\n"))
      await client.close()
    }
  }

  @Test("a refused connection gets the reason over HTTP")
  func tooMany() async throws {
    var limits = ServerLimits()
    limits.connections = 1
    try await withServer(Self.listener, limits: limits) { server in
      let first = try await ClientConnection.connect(to: server.addresses[0])
      #expect(try await first.pings())
      let second = try await RawClient(server.addresses[0])
      try await second.send(get("/"))
      let response = String(decoding: try await second.receiveAll(), as: UTF8.self)
      #expect(response.hasPrefix("HTTP/1.1 503 "))
      #expect(response.contains("\"limit\":\"connections\""))
      #expect(try await first.pings())
      await first.close()
      await second.close()
    }
  }

  @Test("current files of the folder take precedence, and no file outside of it can be requested")
  func folder() async throws {
    let (folder, outside) = (try TestFolder(), try TestFolder())
    let files = FileManager.default
    try Data("secret".utf8).write(to: URL(filePath: outside.file("secret.txt")))
    try files.createDirectory(atPath: folder.file("sub"), withIntermediateDirectories: true)
    try Data("one".utf8).write(to: URL(filePath: folder.file("sub/a.txt")))
    try files.createSymbolicLink(
      atPath: folder.file("link.txt"), withDestinationPath: outside.file("secret.txt"))
    try files.createSymbolicLink(atPath: folder.file("linked"), withDestinationPath: outside.path)
    let site = WebSite(
      files: ["index.html": Array("inside".utf8), "link.txt": Array("inside".utf8)],
      folder: folder.path)
    try await withServer(Self.listener, site: site) { server in
      let client = try await RawClient(server.addresses[0])
      func body(_ path: String) async throws -> String {
        try await client.send(get(path))
        let response = try await client.receiveResponse()
        return response.head.hasPrefix("HTTP/1.1 200 ")
          ? response.body : response.head.split(separator: " ")[1].description
      }
      #expect(try await body("/sub/a.txt") == "one")
      try Data("two".utf8).write(to: URL(filePath: folder.file("sub/a.txt")))
      #expect(try await body("/sub/a.txt") == "two")
      #expect(try await body("/") == "inside")
      try Data("mine".utf8).write(to: URL(filePath: folder.file("index.html")))
      #expect(try await body("/") == "mine")
      // A link is not replaced by the other file of its path.
      #expect(try await body("/link.txt") == "404")
      #expect(try await body("/linked/secret.txt") == "404")
      #expect(try await body("/sub") == "404")
      #expect(try await body("/../\(outside.path.split(separator: "/").last!)/secret.txt") == "404")
      await client.close()
    }
    await #expect(throws: StartupError.self) {
      try await withServer(Self.listener, site: .init(folder: folder.file("none"))) { _ in }
    }
  }
}
