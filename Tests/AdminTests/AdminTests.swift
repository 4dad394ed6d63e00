// SPDX-License-Identifier: Apache-2.0

import ServerCore
import StateMachines
import TestSupport
import Testing
import TransportTestSupport

@testable import Admin
@testable import Transports

@Suite("Admin interface", .timeLimit(.minutes(15)))
struct AdminTests {
  private func withAdmin(
    _ status: ServerStatus, _ body: (ServerAddress) async throws -> Void
  ) async throws {
    let admin = try await AdminInterface.start(host: "127.0.0.1", port: 0, status)
    do { try await body(admin.address) } catch {
      await admin.stop()
      throw error
    }
    await admin.stop()
  }

  /// Returns the status line and the body of a response.
  private func get(
    _ path: String, _ address: ServerAddress, method: String = "GET", host: String = "localhost"
  ) throws -> String {
    let socket = try PlainSocket(address)
    try socket.send("\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
    let text = String(decoding: try socket.receiveAll(), as: UTF8.self)
    let head = try #require(text.firstRange(of: "\r\n"))
    let body = try #require(text.firstRange(of: "\r\n\r\n"))
    return "\(text[..<head.lowerBound]) \(text[body.upperBound...])"
  }

  @Test("/readyz has the readiness, in each phase of a server")
  func readiness() async throws {
    let status = ServerStatus()
    try await withAdmin(status) { address async throws in
      #expect(try get("/readyz", address) == "HTTP/1.1 503 Service Unavailable starting\n")
      let server = try await Server.start(
        kinds: [], listeners: [.tcp(host: "127.0.0.1", port: 0)], shards: 2, status: status)
      #expect(try get("/readyz", address) == "HTTP/1.1 200 OK ready\n")
      #expect(try get("/readyz?x=1", address, method: "HEAD") == "HTTP/1.1 200 OK ")
      #expect(status.set(.connection, "refused\nsecond line"))
      #expect(!status.set(.connection, "refused"))
      #expect(
        try get("/readyz", address)
          == "HTTP/1.1 503 Service Unavailable without database: refused\n")
      status.set(.commits, "full")
      #expect(status.set(.connection, nil))
      #expect(server.readiness == .withoutDatabase(reason: "full"))
      status.set(.commits, nil)
      server.ownershipChanged(.lapsed)
      #expect(try get("/readyz", address).contains("503 Service Unavailable lease lapsed: "))
      server.ownershipChanged(.held)
      #expect(try get("/readyz", address) == "HTTP/1.1 200 OK ready\n")
      await server.stop()
      #expect(try get("/readyz", address) == "HTTP/1.1 503 Service Unavailable draining\n")
    }
  }

  @Test("/healthz responds 200 only while all event loops respond")
  func health() async throws {
    let status = ServerStatus()
    try await withAdmin(status) { address async throws in
      #expect(try get("/healthz", address) == "HTTP/1.1 200 OK alive\n")
      let jobs = HeldJobs()
      status.started([
        ShardThread(executor: QueueExecutor(), check: {}, execute: { $0() }),
        ShardThread(executor: QueueExecutor(), check: {}, execute: jobs.add),
      ])
      #expect(
        try get("/healthz", address) == "HTTP/1.1 503 Service Unavailable an event loop is busy\n")
      jobs.run()
      status.started([ShardThread(executor: QueueExecutor(), check: {}, execute: { $0() })])
      #expect(try get("/healthz", address) == "HTTP/1.1 200 OK alive\n")
    }
  }

  @Test("other paths, methods and hosts, and what is not HTTP, are refused")
  func refusals() async throws {
    try await withAdmin(ServerStatus()) { address in
      #expect(try get("/", address).hasPrefix("HTTP/1.1 404 "))
      #expect(try get("/readyz", address, method: "POST").hasPrefix("HTTP/1.1 405 "))
      #expect(try get("/readyz", address, host: "example.org").hasPrefix("HTTP/1.1 403 "))
      let socket = try PlainSocket(address)
      try socket.send("{\"jsonrpc\":\"2.0\"}\n")
      #expect(
        String(decoding: try socket.receiveAll(), as: UTF8.self).hasPrefix("HTTP/1.1 400 "))
    }
  }

  @Test(
    "an address that other machines can reach is refused", arguments: ["0.0.0.0", "::", "host"])
  func exposed(host: String) async throws {
    let error = await #expect(throws: StartupError.self) {
      try await AdminInterface.start(host: host, port: 0, ServerStatus())
    }
    #expect("\(try #require(error))".contains("reachable from other machines"))
  }
}
