// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import RemoteSources
import TestSupport
import Testing

@Suite("HTTP source", .timeLimit(.minutes(20)))
struct HTTPSourceTests {
  /// Loads once from a server that runs `script` for each connection.
  private func load(
    maximumBytes: Int = HTTPSource.maximumBytes, timeout: Duration? = nil,
    client: RemoteClient = .patient, from target: String = "/",
    _ reported: @escaping @Sendable (Int?) async -> Void = { _ in },
    _ script: @escaping @Sendable (inout Visitor) async throws -> Void
  ) async throws -> Loaded {
    try await withClient(client) { client in
      try await TestServer.serving(script) { server in
        try await HTTPSource(
          server.address(target), client: client, maximumBytes: maximumBytes, timeout: timeout
        ).loaded(reported)
      }
    }
  }

  @Test("a load fails if it needs more bytes than other loads have left", arguments: [9, 10])
  func quota(bytes: Int) async throws {
    let loaded = try await withClient(.patient) { client in
      try await TestServer.serving({ try await $0.respond("200 OK", text: "0123456789") }) {
        server in
        try await HTTPSource(server.address("/"), client: client, quota: LoadingQuota(bytes: bytes))
          .loaded()
      }
    }
    #expect(loaded.failure == (bytes == 9 ? "source.busy" : nil))
  }

  // MARK: - Values

  @Test(
    "a response is JSON if its type says so, otherwise text",
    arguments: [
      ("application/json", #" {"a": [1.50, 1e300] } "#, #"{"a":[1.50,1e300]}"#),
      ("Application/JSON; charset=utf-8", "null", "null"),
      ("text/json", "3", "3"),
      ("application/problem+json;charset=utf-8", #"{"a":1}"#, #"{"a":1}"#),
      ("application/json", "\u{FEFF}true", "true"),
      ("text/plain", #"{"a":1}"#, #""{\"a\":1}""#),
      ("text/plain; charset=utf-8", "hé\n", #""hé\n""#),
      ("application/jsonp", "1", #""1""#),
      ("", "plain", #""plain""#),
      ("text/plain", "", #""""#),
    ])
  func value(type: String, body: String, value: String) async throws {
    let loaded = try await load { visitor in
      let header = type.isEmpty ? "" : "\r\nContent-Type: \(type)"
      try await visitor.respond("200 OK" + header, text: body)
    }
    #expect(loaded.value == value)
  }

  @Test(
    "a response of type JSON that is not JSON is a failure",
    arguments: ["", "{", "NaN", "1 2", "<html>", #"{"a":1,}"#])
  func notJSON(body: String) async throws {
    let loaded = try await load { visitor in
      try await visitor.respond("200 OK\r\nContent-Type: application/json", text: body)
    }
    #expect(loaded.failure == "source.notJSON")
  }

  @Test("text that is not UTF-8 is a failure")
  func notUTF8() async throws {
    let loaded = try await load { visitor in
      try await visitor.respond("200 OK\r\nContent-Length: 2", [0x68, 0xE9])
    }
    #expect(loaded.failure == "source.notText")
  }

  @Test(
    "any status but 200 is a failure",
    arguments: [
      "201 Created", "204 No Content", "206 Partial Content", "300 Multiple Choices",
      "304 Not Modified", "305 Use Proxy", "401 Unauthorized", "404 Not Found", "500 Oh", "503 No",
    ])
  func status(status: String) async throws {
    let loaded = try await load { visitor in
      try await visitor.respond(status + "\r\nContent-Type: application/json", text: "1")
    }
    #expect(loaded == Loaded(percents: [], failure: "source.status"))
  }

  @Test("the source sends GET with path and query, and closes the connection after the response")
  func request() async throws {
    let heads = Record<String>()
    let loaded = try await load(from: "/a/b?c=d%20e#f") { visitor in
      heads.add(await visitor.request())
      try await visitor.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1")
      await visitor.untilGone()
    }
    #expect(loaded.value == #""1""#)
    let lines = heads.all.first?.split(separator: "\r\n").map { $0.lowercased() } ?? []
    #expect(heads.all.count == 1)
    #expect(lines.first == "get /a/b?c=d%20e http/1.1")
    #expect(lines.contains { $0.hasPrefix("host: 127.0.0.1:") })
    #expect(!lines.contains { $0.hasPrefix("cookie") || $0.hasPrefix("authorization") })
  }

  // MARK: - Progress

  @Test("each percent is reported once, while the bytes arrive")
  func progress() async throws {
    let reported = Signal()
    let loaded = try await load { _ in
      reported.fire()
    } _: { visitor in
      try await visitor.respond("200 OK\r\nContent-Length: 1000")
      await reported.wait()
      for _ in 0..<4 {
        try await visitor.send(String(repeating: "x", count: 250))
        await reported.wait()
      }
    }
    #expect(loaded.percents == [0, 25, 50, 75, 100])
  }

  @Test("no report is made while the percent does not change")
  func smallParts() async throws {
    let loaded = try await load { visitor in
      try await visitor.respond("200 OK\r\nContent-Length: 20000")
      for _ in 0..<2000 { try await visitor.send("0123456789") }
    }
    let percents = loaded.percents.compactMap(\.self)
    #expect(loaded.value?.utf8.count == 20002)
    #expect(percents.count == loaded.percents.count)
    #expect(percents.first == 0 && percents.last == 100)
    #expect(zip(percents, percents.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test(
    "without a length one report says that the percent is unknown",
    arguments: [
      ["200 OK\r\n\r\n", "ab", "cd"],
      ["200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "2\r\nab\r\n", "2\r\ncd\r\n0\r\n\r\n"],
    ])
  func unknownLength(parts: [String]) async throws {
    let loaded = try await load { visitor in
      _ = await visitor.request()
      try await visitor.send("HTTP/1.1 " + parts[0])
      for part in parts.dropFirst() { try await visitor.send(part) }
    }
    #expect(loaded == Loaded(percents: [nil], value: #""abcd""#))
  }

  @Test("a response with two lengths is refused, because it may be an attack")
  func twoLengths() async throws {
    let loaded = try await load { visitor in
      _ = await visitor.request()
      try await visitor.send(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
          + "4\r\nabcd\r\n0\r\n\r\n")
    }
    #expect(loaded == Loaded(percents: [], failure: "source.unreachable"))
  }

  // MARK: - Limits

  @Test("nothing is read of a response whose declared length is too large")
  func announcedTooLarge() async throws {
    let loaded = try await load(maximumBytes: 1000) { visitor in
      try await visitor.respond("200 OK\r\nContent-Length: 1001")
      await visitor.untilGone()
    }
    #expect(loaded == Loaded(percents: [], failure: "source.tooLarge"))
  }

  @Test("a response of exactly the maximum size is accepted")
  func exactlyAllowed() async throws {
    let loaded = try await load(maximumBytes: 4) { visitor in
      try await visitor.respond("200 OK\r\nContent-Length: 4", [UInt8]("abcd".utf8))
    }
    #expect(loaded.value == #""abcd""#)
  }

  @Test("an endless response is aborted")
  func endless() async throws {
    let loaded = try await load(maximumBytes: 100_000) { visitor in
      try await visitor.respond("200 OK\r\nTransfer-Encoding: chunked")
      await visitor.flood("4000\r\n" + String(repeating: "x", count: 0x4000) + "\r\n")
    }
    #expect(loaded == Loaded(percents: [nil], failure: "source.tooLarge"))
  }

  @Test("endless headers are aborted")
  func endlessHeaders() async throws {
    let loaded = try await load { visitor in
      _ = await visitor.request()
      try await visitor.send("HTTP/1.1 200 OK\r\n")
      await visitor.flood("X-Header: " + String(repeating: "x", count: 10_000) + "\r\n")
    }
    #expect(loaded == Loaded(percents: [], failure: "source.unreachable"))
  }

  // MARK: - Ends

  @Test("cancellation before the response closes the connection immediately")
  func cancelledWhileSilent() async throws {
    let asked = Signal()
    try await withClient { client in
      try await TestServer.serving { visitor in
        _ = await visitor.request()
        asked.fire()
        // Returns only because the client closes the connection.
        await visitor.untilGone()
      } while: { server in
        let source = HTTPSource(try server.address(), client: client)
        await withTaskGroup(of: Loaded?.self) { group in
          group.addTask { try? await source.loaded() }
          await asked.wait()
          group.cancelAll()
          #expect(await group.next() == .some(nil))
        }
      }
    }
  }

  @Test("cancellation within the response closes the connection immediately")
  func cancelledWithinResponse() async throws {
    let begun = Signal()
    let percents = Record<Int?>()
    try await withClient { client in
      try await TestServer.serving { visitor in
        try await visitor.respond(
          "200 OK\r\nContent-Length: 100", [UInt8](repeating: 0x78, count: 40))
        await visitor.untilGone()
      } while: { server in
        let source = HTTPSource(try server.address(), client: client)
        await withTaskGroup(of: Loaded?.self) { group in
          group.addTask {
            try? await source.loaded { percent in
              percents.add(percent)
              if percent == 40 { begun.fire() }
            }
          }
          await begun.wait()
          group.cancelAll()
          #expect(await group.next() == .some(nil))
        }
      }
    }
    #expect(percents.all.last == 40)
  }

  /// Regression: a connection that was established just after its request was cancelled stayed open
  /// for a minute, in case another request came.
  @Test(
    "cancellation while connecting leaves no connection open", .timeLimit(.minutes(15)))
  func cancelledWhileConnecting() async throws {
    for _ in 0..<40 {
      try await withClient { client in
        let arrived = Signal()
        try await TestServer.serving { visitor in
          arrived.fire()
          await visitor.untilGone()
        } while: { server in
          let source = HTTPSource(try server.address(), client: client)
          await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = try? await source.loaded() }
            await arrived.wait()
            group.cancelAll()
          }
        }
      }
    }
  }

  @Test("a server that is silent for too long is a failure")
  func idle() async throws {
    let client = RemoteClient(idleTimeout: .milliseconds(50))
    let loaded = try await load(client: client) { visitor in
      _ = await visitor.request()
      await visitor.untilGone()
    }
    #expect(loaded == Loaded(percents: [], failure: "source.timeout"))
  }

  @Test("a response that is not complete in time is a failure")
  func wholeTimeout() async throws {
    let loaded = try await load(timeout: .milliseconds(50)) { visitor in
      // On a slow machine the timeout may pass before this is sent.
      try? await visitor.respond("200 OK\r\nContent-Length: 100", [0x78])
      await visitor.untilGone()
    }
    #expect(loaded.failure == "source.timeout")
  }

  @Test("a server that does not complete the TLS handshake is a failure")
  func connectTimeout() async throws {
    try await withClient(RemoteClient(connectTimeout: .milliseconds(50))) { client in
      try await TestServer.serving { visitor in
        await visitor.untilGone()
      } while: { server in
        let address = try HTTPAddress("https://127.0.0.1:\(server.port)/")
        let loaded = try await HTTPSource(address, client: client).loaded()
        #expect(loaded == Loaded(percents: [], failure: "source.timeout"))
      }
    }
  }

  @Test("a refused connection is a failure immediately")
  func refused() async throws {
    try await withClient { client in
      let address = try await TestServer.deserted().address()
      let loaded = try await HTTPSource(address, client: client).loaded()
      #expect(loaded == Loaded(percents: [], failure: "source.unreachable"))
    }
  }

  @Test(
    "a server that closes the connection too early is a failure",
    arguments: [
      ("", "source.unreachable"),
      ("HTTP/1.1 200 OK\r\nContent-", "source.unreachable"),
      ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", "source.interrupted"),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n", "source.interrupted"),
      ("SSH-2.0-OpenSSH_9\r\n", "source.unreachable"),
    ])
  func leaves(response: String, failure: String) async throws {
    let loaded = try await load { visitor in
      _ = await visitor.request()
      try await visitor.send(response)
    }
    #expect(loaded.failure == failure)
  }

  @Test("a load after the shutdown of the client is a failure")
  func afterShutdown() async throws {
    let client = RemoteClient()
    await client.shutdown()
    let loaded = try await HTTPSource(HTTPAddress("http://127.0.0.1:1/"), client: client).loaded()
    #expect(loaded.failure == "source.unreachable")
  }
}
