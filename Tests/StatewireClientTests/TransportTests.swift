// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import Foundation
import TestSupport
import Testing

@testable import StatewireClient

@Suite("Swift client over every transport", .timeLimit(.minutes(15)))
struct TransportTests {
  @Test("over TCP and WebSocket", arguments: [("tcp", "--tcp"), ("ws", "--web")])
  func plain(scheme: String, listener: String) async throws {
    let server = try Listening.server(at: [listener, "127.0.0.1:0"])
    try await isServed(server.address(scheme))
  }

  @Test("over a Unix socket")
  func unix() async throws {
    let folder = try TestFolder()
    let socket = folder.file("socket")
    let server = try Listening.server(at: ["--unix", socket])
    try await isServed(try #require(Address("unix:\(socket)")))
    server.kill()
  }

  @Test(
    "over TLS, from a server that it trusts", arguments: [("tls", "--tcp"), ("wss", "--web")])
  func encrypted(scheme: String, listener: String) async throws {
    let folder = try TestFolder()
    try Program.run(
      TestedPackage.root.appending(path: "Tests/Scripts/make-certificates").path, [folder.path])
    let server = try Listening.server(
      ["--tls-cert", folder.file("server.pem"), "--tls-key", folder.file("server.key")],
      at: [listener, "127.0.0.1:0"])
    try await isServed(server.address(scheme, authority: folder.file("ca.pem")))
    let untrusting = try server.address(scheme, authority: folder.file("other-ca.pem"))
    #expect(
      await failure { try await withClient(untrusting) { try await $0.connected() } }
        == .connectionLost)
  }

  @Test("with a token, for a server that requires one")
  func tokens() async throws {
    let folder = try TestFolder()
    let file = folder.file("tokens")
    try "me correct-horse-battery\n".write(toFile: file, atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    let server = try Listening.server(["--token-file", file])
    let address = try server.address()
    for token in [nil, "wrong-horse-wrong-battery"] {
      let options = ClientOptions.soon.with { $0.token = token.map { Initialize.Token($0) } }
      #expect(
        await refused { try await withClient(address, options) { try await $0.connected() } }?.code
          == .unauthorised)
    }
    let options = ClientOptions.soon.with { $0.token = Initialize.Token("correct-horse-battery") }
    try await withClient(address, options) { client in
      let information = try await client.request("session/info")
      #expect(information["role"] == "driver")
    }
  }

  @Test("a large state and patches after it arrive over each of them")
  func large() async throws {
    let server = try Listening.server(at: ["--web", "127.0.0.1:0"])
    try await withClient(server.address("ws"), .soon) { client in
      let list = try await client.open(.todo, name: "list", config: ["memory": ["count": 20_000]])
      try await list.send(.stateRequested)
      try await list.send(.todoRenamed(id: "19999", title: TodoTitle("x")))
      #expect(try await list.titles[19_998] == "x")
      #expect(try await list.verify())
    }
  }

  private func isServed(_ address: Address) async throws {
    try await withClient(address, .soon) { client in
      let list = try await client.open(.todo, name: "list", config: ["memory": ["count": 1000]])
      try await list.send(.stateRequested)
      #expect(try await list.titles.count == 1000)
      #expect(try await list.verify())
    }
  }
}
