// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import RemoteSources
import TestSupport
import Testing

@Suite("A source over HTTP", .timeLimit(.minutes(10)))
struct HTTPSourceTests {
  /// Loads once from a server that runs `script` for each connection.
  private func load(
    maximumBytes: Int = HTTPSource.maximumBytes, timeout: Duration? = nil,
    client: RemoteClient = .patient, from target: String = "/",
    _ reported: @escaping @Sendable (Int?) async -> Void = { _ in },
    _ script: @escaping @Sendable (inout Visitor) async throws -> Void
  ) async throws -> Loaded {
    try await withClient(client) { client in
      try await Peer.serving(script) { peer in
        try await HTTPSource(
          peer.address(target), client: client, maximumBytes: maximumBytes, timeout: timeout
        ).loaded(reported)
      }
    }
  }

  @Test("has no more room than other loads have left", arguments: [9, 10])
  func room(bytes: Int) async throws {
    let loaded = try await withClient(.patient) { client in
      try await Peer.serving({ try await $0.answer("200 OK", text: "0123456789") }) { peer in
        try await HTTPSource(peer.address("/"), client: client, room: LoadingRoom(bytes: bytes))
          .loaded()
      }
    }
    #expect(loaded.failure == (bytes == 9 ? "source.busy" : nil))
  }

  // MARK: - Values

  @Test(
    "is JSON where the type says so, and text otherwise",
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
      try await visitor.answer("200 OK" + header, text: body)
    }
    #expect(loaded.value == value)
  }

  @Test(
    "fails at what is not JSON though its type says so",
    arguments: ["", "{", "NaN", "1 2", "<html>", #"{"a":1,}"#])
  func notJSON(body: String) async throws {
    let loaded = try await load { visitor in
      try await visitor.answer("200 OK\r\nContent-Type: application/json", text: body)
    }
    #expect(loaded.failure == "source.notJSON")
  }

  @Test("fails at text that is not UTF-8")
  func notUTF8() async throws {
    let loaded = try await load { visitor in
      try await visitor.answer("200 OK\r\nContent-Length: 2", [0x68, 0xE9])
    }
    #expect(loaded.failure == "source.notText")
  }

  @Test(
    "fails at any status but 200",
    arguments: [
      "201 Created", "204 No Content", "206 Partial Content", "300 Multiple Choices",
      "304 Not Modified", "305 Use Proxy", "401 Unauthorized", "404 Not Found", "500 Oh", "503 No",
    ])
  func status(status: String) async throws {
    let loaded = try await load { visitor in
      try await visitor.answer(status + "\r\nContent-Type: application/json", text: "1")
    }
    #expect(loaded == Loaded(percents: [], failure: "source.status"))
  }

  @Test("asks with GET, for the path and query, and closes the connection afterwards")
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

  @Test("tells each percent once, while the bytes arrive")
  func progress() async throws {
    let reported = Signal()
    let loaded = try await load { _ in
      reported.fire()
    } _: { visitor in
      try await visitor.answer("200 OK\r\nContent-Length: 1000")
      await reported.wait()
      for _ in 0..<4 {
        try await visitor.send(String(repeating: "x", count: 250))
        await reported.wait()
      }
    }
    #expect(loaded.percents == [0, 25, 50, 75, 100])
  }

  @Test("tells nothing where no whole percent is new")
  func smallParts() async throws {
    let loaded = try await load { visitor in
      try await visitor.answer("200 OK\r\nContent-Length: 20000")
      for _ in 0..<2000 { try await visitor.send("0123456789") }
    }
    let percents = loaded.percents.compactMap(\.self)
    #expect(loaded.value?.utf8.count == 20002)
    #expect(percents.count == loaded.percents.count)
    #expect(percents.first == 0 && percents.last == 100)
    #expect(zip(percents, percents.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test(
    "tells once that no percent is known, where the length is not",
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

  @Test("refuses an answer with two lengths, which may be somebody's trick")
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

  @Test("reads nothing of an answer that says that it is too large")
  func announcedTooLarge() async throws {
    let loaded = try await load(maximumBytes: 1000) { visitor in
      try await visitor.answer("200 OK\r\nContent-Length: 1001")
      await visitor.untilGone()
    }
    #expect(loaded == Loaded(percents: [], failure: "source.tooLarge"))
  }

  @Test("takes as many bytes as allowed")
  func exactlyAllowed() async throws {
    let loaded = try await load(maximumBytes: 4) { visitor in
      try await visitor.answer("200 OK\r\nContent-Length: 4", [UInt8]("abcd".utf8))
    }
    #expect(loaded.value == #""abcd""#)
  }

  @Test("breaks off an answer without end")
  func endless() async throws {
    let loaded = try await load(maximumBytes: 100_000) { visitor in
      try await visitor.answer("200 OK\r\nTransfer-Encoding: chunked")
      await visitor.flood("4000\r\n" + String(repeating: "x", count: 0x4000) + "\r\n")
    }
    #expect(loaded == Loaded(percents: [nil], failure: "source.tooLarge"))
  }

  @Test("breaks off headers without end")
  func endlessHeaders() async throws {
    let loaded = try await load { visitor in
      _ = await visitor.request()
      try await visitor.send("HTTP/1.1 200 OK\r\n")
      await visitor.flood("X-Header: " + String(repeating: "x", count: 10_000) + "\r\n")
    }
    #expect(loaded == Loaded(percents: [], failure: "source.unreachable"))
  }

  // MARK: - Ends

  @Test("closes the connection at once when it is cancelled before an answer")
  func cancelledWhileSilent() async throws {
    let asked = Signal()
    try await withClient { client in
      try await Peer.serving { visitor in
        _ = await visitor.request()
        asked.fire()
        // Ends only because the client closes.
        await visitor.untilGone()
      } while: { peer in
        let source = HTTPSource(try peer.address(), client: client)
        await withTaskGroup(of: Loaded?.self) { group in
          group.addTask { try? await source.loaded() }
          await asked.wait()
          group.cancelAll()
          #expect(await group.next() == .some(nil))
        }
      }
    }
  }

  @Test("closes the connection at once when it is cancelled within an answer")
  func cancelledWithinAnswer() async throws {
    let begun = Signal()
    let percents = Record<Int?>()
    try await withClient { client in
      try await Peer.serving { visitor in
        try await visitor.answer(
          "200 OK\r\nContent-Length: 100", [UInt8](repeating: 0x78, count: 40))
        await visitor.untilGone()
      } while: { peer in
        let source = HTTPSource(try peer.address(), client: client)
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

  /// A connection that came about just after its request was cancelled once stayed open for a
  /// minute, in case there was another request.
  @Test(
    "leaves no connection behind when it is cancelled while it connects", .timeLimit(.minutes(5)))
  func cancelledWhileConnecting() async throws {
    for _ in 0..<40 {
      try await withClient { client in
        let arrived = Signal()
        try await Peer.serving { visitor in
          arrived.fire()
          await visitor.untilGone()
        } while: { peer in
          let source = HTTPSource(try peer.address(), client: client)
          await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = try? await source.loaded() }
            await arrived.wait()
            group.cancelAll()
          }
        }
      }
    }
  }

  @Test("gives up on a server that is silent for too long")
  func idle() async throws {
    let client = RemoteClient(idleTimeout: .milliseconds(50))
    let loaded = try await load(client: client) { visitor in
      _ = await visitor.request()
      await visitor.untilGone()
    }
    #expect(loaded == Loaded(percents: [], failure: "source.timeout"))
  }

  @Test("gives up on an answer that is not complete in time")
  func wholeTimeout() async throws {
    let loaded = try await load(timeout: .milliseconds(50)) { visitor in
      // On a slow machine the time is over before this is sent.
      try? await visitor.answer("200 OK\r\nContent-Length: 100", [0x78])
      await visitor.untilGone()
    }
    #expect(loaded.failure == "source.timeout")
  }

  @Test("gives up on a server that never finishes its part of TLS")
  func connectTimeout() async throws {
    try await withClient(RemoteClient(connectTimeout: .milliseconds(50))) { client in
      try await Peer.serving { visitor in
        await visitor.untilGone()
      } while: { peer in
        let address = try HTTPAddress("https://127.0.0.1:\(peer.port)/")
        let loaded = try await HTTPSource(address, client: client).loaded()
        #expect(loaded == Loaded(percents: [], failure: "source.timeout"))
      }
    }
  }

  @Test("fails at once where nobody listens")
  func refused() async throws {
    try await withClient { client in
      let address = try await Peer.deserted().address()
      let loaded = try await HTTPSource(address, client: client).loaded()
      #expect(loaded == Loaded(percents: [], failure: "source.unreachable"))
    }
  }

  @Test(
    "fails where the server leaves too early",
    arguments: [
      ("", "source.unreachable"),
      ("HTTP/1.1 200 OK\r\nContent-", "source.unreachable"),
      ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", "source.interrupted"),
      ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n", "source.interrupted"),
      ("SSH-2.0-OpenSSH_9\r\n", "source.unreachable"),
    ])
  func leaves(answer: String, failure: String) async throws {
    let loaded = try await load { visitor in
      _ = await visitor.request()
      try await visitor.send(answer)
    }
    #expect(loaded.failure == failure)
  }

  @Test("fails once the client has been shut down")
  func afterShutdown() async throws {
    let client = RemoteClient()
    await client.shutdown()
    let loaded = try await HTTPSource(HTTPAddress("http://127.0.0.1:1/"), client: client).loaded()
    #expect(loaded.failure == "source.unreachable")
  }
}
