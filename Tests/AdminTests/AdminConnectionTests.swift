// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import Admin
@testable import Transports

@Suite("Connections of the admin interface")
struct AdminConnectionTests {
  private let loop = EmbeddedEventLoop()
  private let connections = AdminConnections(maximum: 2)
  private let status = ServerStatus()
  /// The jobs of a shard, for which `/healthz` waits.
  private let jobs = HeldJobs()

  init() {
    status.started([ShardThread(executor: QueueExecutor(), check: {}, execute: jobs.add)])
  }

  private func connect() throws -> EmbeddedChannel {
    let connection = try connections.accept()
    let channel = EmbeddedChannel(loop: loop)
    try channel.pipeline.syncOperations.addHandlers(
      connection, AdminHandler(status, nil, connection, nil))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return channel
  }

  /// Sends a request, and returns the status line if the response has come.
  @discardableResult
  private func get(_ path: String, _ channel: EmbeddedChannel) throws -> String? {
    try channel.writeInbound(ByteBuffer(string: "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n"))
    return try statusLine(channel)
  }

  /// Ends all connections by their time limits.
  private func endAll() { loop.advanceTime(by: .minutes(2)) }

  private func statusLine(_ channel: EmbeddedChannel) throws -> String? {
    loop.run()
    let response = try channel.readOutbound(as: ByteBuffer.self)
    return response.map { String(String(buffer: $0).prefix { $0 != "\r\n" }) }
  }

  /// Idle clients kept operators and health checks out.
  @Test("at the limit a new connection takes the place of the oldest one without a request")
  func oldest() throws {
    defer { endAll() }
    let (served, idle) = (try connect(), try connect())
    #expect(try get("/healthz", served) == nil)
    let new = try connect()
    #expect(served.isActive && !idle.isActive && new.isActive)
    #expect(try get("/readyz", new) == "HTTP/1.1 200 OK")
    jobs.run()
    #expect(try statusLine(served) == "HTTP/1.1 200 OK")
    #expect(!served.isActive && !new.isActive)
    // Both have freed their places.
    let others = [try connect(), try connect()]
    #expect(others.allSatisfy { $0.isActive })
  }

  @Test("a new connection is refused while all others wait for a response")
  func allServed() throws {
    defer { endAll() }
    let served = [try connect(), try connect()]
    for channel in served { #expect(try get("/healthz", channel) == nil) }
    #expect(throws: AdminConnections.AllServed.self) { try connect() }
    #expect(served.allSatisfy { $0.isActive })
    jobs.run()
  }

  /// Probes that connect and close kept their places for ten seconds.
  @Test("a client that ends its output is closed, unless its request is complete")
  func halfClosed() throws {
    defer { endAll() }
    let (probe, half) = (try connect(), try connect())
    probe.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    try half.writeInbound(ByteBuffer(string: "GET /healthz HTTP/1.1\r\n"))
    half.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    loop.run()
    #expect(!probe.isActive && !half.isActive)
    let client = try connect()
    #expect(try get("/healthz", client) == nil)
    client.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    loop.run()
    #expect(client.isActive)
    jobs.run()
    #expect(try statusLine(client) == "HTTP/1.1 200 OK")
  }

  /// The response of a slow store never arrived: its time began when the client connected.
  @Test("the time for the response begins with the whole request")
  func times() throws {
    defer { endAll() }
    let (idle, served) = (try connect(), try connect())
    loop.advanceTime(by: .seconds(9))
    #expect(try get("/healthz", served) == nil)
    loop.advanceTime(by: .seconds(1))
    #expect(!idle.isActive && served.isActive)
    jobs.run()
    #expect(try statusLine(served) == "HTTP/1.1 200 OK")
    #expect(AdminHandler.Phase.responding.time > Console.timeToReply)
  }
}
