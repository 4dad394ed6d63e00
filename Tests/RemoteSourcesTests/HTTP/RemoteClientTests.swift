// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import RemoteSources
import TestSupport
import Testing

@Suite("Remote client", .timeLimit(.minutes(20)))
struct RemoteClientTests {
  @Test("an unused client can be released without a shutdown")
  func unused() {
    _ = RemoteClient()
  }

  @Test("a shutdown aborts running loads")
  func shutdown() async throws {
    let asked = Signal()
    let client = RemoteClient()
    try await TestServer.serving { visitor in
      _ = await visitor.request()
      asked.fire()
      await visitor.untilGone()
    } while: { server in
      let source = HTTPSource(try server.address(), client: client)
      async let loaded = source.loaded()
      await asked.wait()
      await client.shutdown()
      #expect(try await loaded.failure == "source.unreachable")
    }
  }

  @Test("the log names the server and the reason, but neither the URL nor the response")
  func log() async throws {
    let lines = Record<String>()
    try await withClient(RemoteClient { lines.add($0) }) { client in
      let port = try await TestServer.serving { visitor in
        let head = await visitor.request()
        let status = head.hasPrefix("GET /secret/missing") ? "404 secret" : "200 OK"
        let body = #"{"balance": "secret"}"#
        try await visitor.send(
          "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
      } while: { server in
        let address = try server.address("/secret/missing?key=secret")
        _ = try await HTTPSource(address, client: client).loaded()
        let service = HTTPBalanceService(try server.address("/secret"), client: client)
        let store = try await BalanceProbe.Host(service)
        try await store.ask()
        await store.settled()
        return server.port
      }
      // The port is reserved and has no listener.
      let silent = try ReservedPort()
      _ = try await HTTPSource(
        HTTPAddress("http://127.0.0.1:\(silent.number)/secret"), client: client
      ).loaded()
      #expect(
        lines.all.prefix(2) == [
          "http://127.0.0.1:\(port): The source responded with status 404",
          "http://127.0.0.1:\(port): The response of the source is not a balance",
        ])
      #expect(lines.all.count == 3)
      let last = lines.all.last ?? ""
      #expect(last.hasPrefix("http://127.0.0.1:\(silent.number): The source cannot be reached ("))
      #expect(!lines.all.contains { $0.contains("secret") })
    }
  }

  @Test("cancelled loads are not logged")
  func cancelled() async throws {
    let lines = Record<String>()
    let asked = Signal()
    try await withClient(RemoteClient { lines.add($0) }) { client in
      try await TestServer.serving { visitor in
        _ = await visitor.request()
        asked.fire()
        await visitor.untilGone()
      } while: { server in
        let source = HTTPSource(try server.address(), client: client)
        await withTaskGroup(of: Void.self) { group in
          group.addTask { _ = try? await source.loaded() }
          await asked.wait()
          group.cancelAll()
        }
      }
    }
    #expect(lines.all == [])
  }
}
