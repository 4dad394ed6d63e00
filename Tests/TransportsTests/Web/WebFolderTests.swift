// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix
import ServerCore
import TestSupport
import Testing
import TransportTestSupport

@testable import Transports

@Suite("Web folder", .timeLimit(.minutes(15)))
struct WebFolderTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func write(_ content: Data, _ name: String) throws {
    try content.write(to: URL(filePath: folder.file(name)))
  }

  private func request(_ path: String, _ fields: String = "", method: String = "GET") -> String {
    "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n"
  }

  private static let large = Data((0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 / 7) })

  @Test("a file that exists and cannot be served is not a missing one")
  func unusable() throws {
    try write(Data("one".utf8), "a.txt")
    try write(Data(), "large.bin")
    let large = try FileHandle(forWritingTo: URL(filePath: folder.file("large.bin")))
    try large.truncate(atOffset: UInt64(WebFolder.maximumBytes + 1))
    try large.close()
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link.txt"), withDestinationPath: folder.file("a.txt"))
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("linked"), withDestinationPath: folder.path)
    try FileManager.default.createDirectory(
      atPath: folder.file("sub"), withIntermediateDirectories: false)
    #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
    for (path, expected) in [
      ("a.txt", "file"), ("none.txt", "missing"), ("sub/none.txt", "missing"),
      ("a.txt/b.txt", "missing"), ("large.bin", "unusable"), ("link.txt", "unusable"),
      ("linked/a.txt", "unusable"), ("sub", "unusable"), ("pipe", "unusable"),
    ] {
      let names = try #require(WebFolder.names(in: "/" + path))
      let opening =
        switch WebFolder(path: folder.path).open(names) {
        case .file: "file"
        case .missing: "missing"
        case .unusable: "unusable"
        case .busy: "busy"
        }
      #expect(opening == expected, "\(path)")
    }
  }

  @Test("a file of several pieces is sent as a whole, with its length and its tag")
  func pieces() async throws {
    try write(Self.large, "large.bin")
    try write(Data(Self.large.prefix(FolderFile.pieceBytes)), "piece.bin")
    try write(Data(), "empty.bin")
    try await withServer(WebPageTests.listener, site: .init(folder: folder.path)) { server in
      func get(_ path: String, _ fields: String = "", method: String = "GET") throws -> (
        head: String, body: Data
      ) {
        let client = try PlainSocket(server.addresses[0])
        try client.send(request(path, fields + "Connection: close\r\n", method: method))
        let bytes = Data(try client.receiveAll())
        let end = try #require(bytes.range(of: Data("\r\n\r\n".utf8)))
        return (String(decoding: bytes[..<end.lowerBound], as: UTF8.self), bytes[end.upperBound...])
      }
      let (head, body) = try get("/large.bin")
      #expect(head.contains("\r\nContent-Length: 1000003\r\n") && body == Self.large)
      #expect(try get("/piece.bin").body == Self.large.prefix(FolderFile.pieceBytes))
      #expect(try get("/empty.bin").head.contains("\r\nContent-Length: 0\r\n"))
      let only = try get("/large.bin", method: "HEAD")
      #expect(only.head.contains("\r\nContent-Length: 1000003\r\n") && only.body.isEmpty)
      let tag = try #require(head.split(separator: "\r\nETag: ").last?.prefix { $0 != "\r\n" })
      let known = try get("/large.bin", "If-None-Match: \(tag)\r\n")
      #expect(known.head.hasPrefix("HTTP/1.1 304 ") && known.body.isEmpty)
      try write(Self.large + Data([1]), "large.bin")
      #expect(try get("/large.bin", "If-None-Match: \(tag)\r\n").head.hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test("requests during a file get their responses after it")
  func pipelined() async throws {
    try write(Self.large, "large.bin")
    try write(Data("small".utf8), "small.txt")
    try await withServer(WebPageTests.listener, site: .init(folder: folder.path)) { server in
      let client = try PlainSocket(server.addresses[0])
      try client.send(request("/large.bin") + request("/small.txt"))
      try client.send(request("/large.bin", "Connection: close\r\n"))
      client.endOutput()
      let bytes = Data(try client.receiveAll())
      #expect(bytes.ranges(of: Data("HTTP/1.1 200 OK".utf8)).count == 3)
      #expect(bytes.ranges(of: Data("\r\n\r\nsmall".utf8)).count == 1)
      #expect(
        bytes.ranges(of: Self.large).count == 2 && bytes.suffix(Self.large.count) == Self.large)
    }
  }

  /// Each response held a copy of its file, and a limit of their bytes made others wait.
  @Test("clients that do not read do not keep files from others")
  func unread() async throws {
    try write(Data(), "large.bin")
    let large = try FileHandle(forWritingTo: URL(filePath: folder.file("large.bin")))
    try large.truncate(atOffset: UInt64(WebFolder.maximumBytes))
    try large.close()
    try write(Data("small".utf8), "small.txt")
    try await withServer(WebPageTests.listener, site: .init(folder: folder.path)) { server in
      let address = server.addresses[0]
      // Together more than 64 MiB.
      let clients = try (0..<5).map { _ in try Reader(address, request("/large.bin")) }
      for client in clients { try client.socket.receiveByte() }
      let other = try PlainSocket(address)
      try other.send(request("/small.txt", "Connection: close\r\n"))
      #expect(String(decoding: try other.receiveAll(), as: UTF8.self).hasSuffix("\r\n\r\nsmall"))
      withExtendedLifetime(clients) {}
    }
  }

  @Test("the time in which a slow disk is read is not that of the client")
  func slowDisk() async throws {
    try write(Data("small".utf8), "small.txt")
    let disk = NIOThreadPool(numberOfThreads: 1)
    disk.start()
    defer { disk.shutdownGracefully { _ in } }
    let end = DispatchSemaphore(value: 0)
    disk.submit { _ in end.wait() }
    var site = WebSite(folder: folder.path)
    site.fileThreads = disk
    let time = TestTime()
    try await withServer(
      WebPageTests.listener, timeToFirstRequest: .seconds(10), site: site, now: time.now
    ) { server in
      defer { end.signal() }
      let silent = try PlainSocket(server.addresses[0])
      let client = try PlainSocket(server.addresses[0])
      // The name of a hidden file gets a response without the disk. The next request begins with it.
      try client.send(request("/.none") + request("/small.txt", "Connection: close\r\n"))
      try client.receiveByte()
      time.pass(.seconds(11))
      // One sweep looks at all clients.
      #expect(try silent.receiveAll().isEmpty)
      end.signal()
      let rest = String(decoding: try client.receiveAll(), as: UTF8.self)
      #expect(rest.hasSuffix("\r\n\r\nsmall"), "\(rest)")
    }
  }

  /// A client that has sent a request. An array cannot hold a `PlainSocket`.
  private final class Reader {
    let socket: PlainSocket

    init(_ address: ServerAddress, _ request: String) throws {
      socket = try PlainSocket(address)
      try socket.send(request)
    }
  }

  @Test("if no descriptor is free for a file, the client is asked to retry, and gets no other file")
  func busy() throws {
    let text = "GET /a.txt HTTP/1.1\r\nHost: localhost\r\n\r\n"
    let read = try Array(text.utf8).withUnsafeBytes { try RequestHead.read($0)?.head }
    let head = try #require(read)
    let router = try WebRouter(WebSite(files: ["a.txt": [1]]))
    #expect(router.response(head, with: .missing).status == .ok)
    let response = router.response(head, with: .busy)
    #expect(response.status == .unavailable && response.closes)
    #expect(response.fields.contains { $0.name == "Retry-After" })
  }
}
