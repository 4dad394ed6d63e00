// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import ServerCore
import Testing
import TransportTestSupport
import Transports

@Suite("Stores that take long to open", .timeLimit(.minutes(15)))
struct OffloadedOpeningTests {
  /// A store that records if its preparation ran before.
  private struct Prepared: StateMachine {
    enum Input: Codable, Sendable { case none }
    struct State: Codable, Sendable { var isPrepared: Bool }

    let initialState: State
    func effect(of input: Input, in state: State) -> Effect<Input> { .none }
    func reduce(_ state: inout State, _ action: Input) {}
  }

  private struct Configuration: Codable, Sendable {
    var isLong: Bool
    var text: String?
  }

  @Test(
    "a store is prepared on another thread, and the client's next message waits",
    arguments: [false, true])
  func waiting(inBatch: Bool) async throws {
    let preparing = Lock<pthread_t?>(nil)
    let making = Lock<pthread_t?>(nil)
    let kind = StoreKind(
      "prepared", configuration: Configuration.self, sharingWithin: { _ in 0 },
      preparing: { configuration in
        guard configuration.isLong else { return nil }
        return {
          preparing.withLock { $0 = pthread_self() }
          return true
        }
      },
      { _, _ in
        making.withLock { $0 = pthread_self() }
        return Prepared(initialState: .init(isPrepared: preparing.withLock { $0 != nil }))
      })
    let server = try await Server.start(
      kinds: [kind], settings: .patient, listeners: [.tcp(host: "127.0.0.1", port: 0)])
    let client = try await ClientConnection.connect(to: server.addresses[0])
    let requests = [
      #"{"jsonrpc":"2.0","id":1,"method":"store/open","params":{"store":"a","kind":"prepared","#
        + #""config":{"isLong":true}}}"#,
      #"{"jsonrpc":"2.0","id":2,"method":"store/state","params":{"store":"a"}}"#,
    ]
    let text = inBatch ? "[\(requests.joined(separator: ","))]" : requests.joined(separator: "\n")
    try await client.send(raw: Array((text + "\n").utf8))
    let opened = #"{"jsonrpc":"2.0","id":1,"result":{"revision":0}}"#
    let first = try await client.receiveText() ?? ""
    let second = inBatch ? first : try await client.receiveText() ?? ""
    #expect(first.hasPrefix((inBatch ? "[" : "") + opened))
    #expect(second.contains("\"id\":2,"))
    #expect(second.contains("\"state\":{\"isPrepared\":true}"))
    #expect(preparing.withLock { $0 } != making.withLock { $0 })
    await client.close()
    await server.stop()
  }

  @Test(
    "a long configuration that cannot be used gets its error, and the next request its response")
  func errors() async throws {
    let kind = StoreKind("prepared", configuration: Configuration.self) { _ in
      Prepared(initialState: .init(isPrepared: true))
    }
    let server = try await Server.start(
      kinds: [kind], settings: .patient, listeners: [.tcp(host: "127.0.0.1", port: 0)])
    let client = try await ClientConnection.connect(to: server.addresses[0])
    let text = String(repeating: "x", count: 100_000)
    func open(_ config: String) -> String {
      #"{"jsonrpc":"2.0","id":1,"method":"store/open","params":{"store":"a","kind":"prepared","#
        + "\"config\":\(config)}}\n"
    }
    for (config, expected) in [
      ("{\"text\":\"\(text)\"}", "\"code\":-32602"), ("[\"\(text)\"]", "\"code\":-32602"),
      ("{\"isLong\":false,\"text\":\"\(text)\"}", "\"revision\":0"),
      ("{\"text\":\"\(text)\",\"isLong\":false}", "\"revision\":0"),
      ("{\"isLong\":true,\"text\":\"\(text)\"}", "\"code\":-32018"),
    ] {
      try await client.send(raw: Array((open(config) + ping + "\n").utf8))
      #expect(try await client.receiveText()?.contains(expected) == true)
      #expect(try await client.receiveText() == pong)
    }
    await client.close()
    await server.stop()
  }
}
