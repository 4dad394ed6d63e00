// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import NIOCore
import ServerCore
import TestSupport
import Testing
import TransportTestSupport

@testable import Transports

/// The limits for untrusted clients. For each limit, the offending client gets its error and is
/// closed, and a second client is not affected.
@Suite("Untrusted clients", .timeLimit(.minutes(15)))
struct UntrustedClientTests {
  @Test(
    "a client that sends no complete request in time is notified and closed",
    arguments: ["", "{\"jsonrpc\":", "Con"])
  func firstRequest(beginning: String) async throws {
    let time = TestTime()
    try await withServer(timeToFirstRequest: .seconds(10), now: time.now) { server in
      let silent = try await ClientConnection.connect(
        to: server.addresses[0], framing: beginning == "Con" ? .headers : .lines)
      try await silent.send(raw: Array(beginning.utf8))
      let other = try await ClientConnection.connect(to: server.addresses[0])
      #expect(try await other.pings())
      time.pass(.seconds(11))
      #expect(try await silent.receiveLimit() == "timeToFirstRequest")
      #expect(try await silent.receive() == nil)
      #expect(try await other.pings())
      await silent.close()
      await other.close()
    }
  }

  @Test("if tokens are required, pings alone do not keep an unidentified client connected")
  func unauthorised() async throws {
    let time = TestTime()
    let credentials = Credentials(try TokenTable(parsing: "me 0123456789abcdef".utf8))
    try await withServer(
      timeToFirstRequest: .seconds(10), credentials: credentials, now: time.now
    ) { server in
      let untrusted = try await ClientConnection.connect(to: server.addresses[0])
      #expect(try await untrusted.pings())
      let me = try await ClientConnection.connect(to: server.addresses[0])
      try await me.introduce("0123456789abcdef")
      time.pass(.seconds(11))
      #expect(try await untrusted.receiveLimit() == "timeToFirstRequest")
      #expect(try await untrusted.receive() == nil)
      #expect(try await me.pings())
      await untrusted.close()
      await me.close()
    }
  }

  @Test("a client that is idle for too long is notified and closed")
  func idle() async throws {
    let time = TestTime()
    var limits = ServerLimits()
    limits.idleTime = .seconds(60)
    try await withServer(limits: limits, now: time.now) { server in
      let idle = try await ClientConnection.connect(to: server.addresses[0])
      let other = try await ClientConnection.connect(to: server.addresses[0])
      #expect(try await idle.pings())
      let isOver = Lock(false)
      async let limit: String? = {
        defer { isOver.withLock { $0 = true } }
        return try await idle.receiveLimit()
      }()
      // A client that sends messages is not idle, however fast the time passes.
      while !isOver.withLock({ $0 }) {
        time.pass(.seconds(1))
        #expect(try await other.pings())
      }
      #expect(try await limit == "idleTime")
      #expect(try await idle.receive() == nil)
      #expect(try await other.pings())
      await idle.close()
      await other.close()
    }
  }

  @Test(
    "a client whose frame does not end in time is notified and closed",
    arguments: ["{\"jsonrpc\":", "Content-Length: 10\r\n\r\n{}"])
  func unfinished(beginning: String) async throws {
    let time = TestTime()
    var limits = ServerLimits()
    limits.frameTime = .seconds(60)
    let isHeaders = beginning.hasPrefix("Con")
    try await withServer(limits: limits, now: time.now) { server in
      let slow = try await ClientConnection.connect(
        to: server.addresses[0], framing: isHeaders ? .headers : .lines)
      let other = try await ClientConnection.connect(to: server.addresses[0])
      #expect(try await slow.pings())
      try await slow.send(raw: Array(beginning.utf8))
      let isOver = Lock(false)
      async let limit: String? = {
        defer { isOver.withLock { $0 = true } }
        return try await slow.receiveLimit()
      }()
      // Clients with complete frames and silent clients are not affected.
      let silent = try await ClientConnection.connect(to: server.addresses[0])
      #expect(try await silent.pings())
      while !isOver.withLock({ $0 }) {
        time.pass(.seconds(1))
        #expect(try await other.pings())
      }
      #expect(try await limit == "frameTime")
      #expect(try await slow.receive() == nil)
      #expect(try await other.pings())
      #expect(try await silent.pings())
      for client in [slow, other, silent] { await client.close() }
    }
  }

  /// An address of this machine that is not a loopback address.
  private static let ownAddress = try? System.enumerateDevices().compactMap(\.address).first {
    $0.protocol == .inet && ClientAddress($0)?.isLoopback == false
  }?.ipAddress

  @Test(
    "by default an address may use a part of the connections, and loopback all of them",
    .enabled(if: ownAddress != nil))
  func addressByDefault() async throws {
    let host = try #require(Self.ownAddress)
    try await withServer(.tcp(host: "0.0.0.0", port: 0)) { server in
      guard case .tcp(_, let port) = server.addresses[0] else { return }
      func connect(_ host: String) async throws -> ClientConnection {
        try await ClientConnection.connect(to: .tcp(host: host, port: port))
      }
      var clients: [ClientConnection] = []
      for _ in 0..<256 { clients.append(try await connect(host)) }
      #expect(try await clients[255].pings())
      let refused = try await connect(host)
      #expect(try await refused.receiveLimit() == "connectionsPerAddress")
      for _ in 0..<257 { clients.append(try await connect("127.0.0.1")) }
      #expect(try await clients[512].pings())
      #expect(try await clients[0].pings())
      await refused.close()
      for client in clients { await client.close() }
    }
  }

  @Test("the number of connections is limited, in total and for each address")
  func counts() async throws {
    for name in ["connections", "connectionsPerAddress"] {
      var limits = ServerLimits()
      if name == "connections" { limits.connections = 2 } else { limits.connectionsPerAddress = 2 }
      try await withServer(limits: limits) { server in
        let first = try await ClientConnection.connect(to: server.addresses[0])
        #expect(try await first.pings())
        let second = try await ClientConnection.connect(to: server.addresses[0])
        #expect(try await second.pings())
        let third = try await ClientConnection.connect(to: server.addresses[0])
        #expect(try await third.receiveLimit() == name)
        #expect(try await third.receive() == nil)
        await third.close()
        #expect(try await first.pings())

        await second.close()
        // Its place is free when the server has noticed the end.
        try await eventually("a place is free") {
          let next = try await ClientConnection.connect(to: server.addresses[0])
          try? await next.send(ping)
          let response = try await next.receiveText()
          await next.close()
          return response == pong
        }
        await first.close()
      }
    }
  }

  @Test("connections that have sent nothing are closed for new ones, and others stay")
  func evictionOfSilentConnections() async throws {
    var limits = ServerLimits()
    limits.connections = 20
    try await withServer(limits: limits) { server in
      var speakers: [ClientConnection] = []
      for _ in 0..<5 {
        speakers.append(try await ClientConnection.connect(to: server.addresses[0]))
        #expect(try await speakers[speakers.count - 1].pings())
      }
      var silent: [ClientConnection] = []
      for _ in 0..<40 {
        silent.append(try await ClientConnection.connect(to: server.addresses[0]))
      }
      let newcomer = try await ClientConnection.connect(to: server.addresses[0])
      #expect(try await newcomer.pings())
      for speaker in speakers { #expect(try await speaker.pings()) }
      for client in speakers + silent + [newcomer] { await client.close() }
    }
  }

  // Their unread bytes counted as a first message that the server is about to read.
  @Test("clients without a token that send more than the server reads are closed for new ones")
  func evictionOfUnreadConnections() async throws {
    var limits = ServerLimits()
    limits.connections = 3
    limits.bytesPerSecond = 1000
    let token = "0123456789abcdef"
    let credentials = Credentials(try TokenTable(parsing: "me \(token)".utf8))
    try await withServer(limits: limits, credentials: credentials) { server in
      let pings = String(
        repeating: #"{"jsonrpc":"2.0","id":1,"method":"ping"}"# + "\n", count: 5000)
      let first = try PlainSocket(server.addresses[0])
      let second = try PlainSocket(server.addresses[0])
      let third = try PlainSocket(server.addresses[0])
      func send(_ socket: borrowing PlainSocket) throws {
        try socket.send(pings)
        // The server has read as much as it may, and responds.
        try socket.receiveByte()
      }
      try send(first)
      try send(second)
      try send(third)
      let newcomer = try await ClientConnection.connect(to: server.addresses[0])
      try await newcomer.introduce(token)
      #expect(try await newcomer.pings())
      await newcomer.close()
    }
  }

  @Test(
    "the connections of an identity are limited, by default to half of all", arguments: [1, nil])
  func identities(_ limit: Int?) async throws {
    var limits = ServerLimits()
    limits.connections = 3
    limits.connectionsPerIdentity = limit
    let (mine, yours) = ("0123456789abcdef", "123456789abcdef0")
    let credentials = Credentials(
      try TokenTable(parsing: "me \(mine)\nyou \(yours)".utf8))
    try await withServer(limits: limits, credentials: credentials) { server in
      func connect() async throws -> ClientConnection {
        try await ClientConnection.connect(to: server.addresses[0])
      }
      let (first, second, other) = (try await connect(), try await connect(), try await connect())
      try await first.introduce(mine)
      try await other.introduce(yours)
      try await second.send(ClientConnection.introduction(mine))
      #expect(try await second.receiveText()?.contains("connectionsPerIdentity") == true)
      #expect(try await second.receive() == nil)
      await second.close()
      #expect(try await other.pings())
      await first.close()
      try await eventually("the name has a place again") {
        let next = try await connect()
        try await next.send(ClientConnection.introduction(mine))
        let response = try await next.receiveText()
        await next.close()
        return response?.contains("\"result\"") == true
      }
      await other.close()
    }
  }

  @Test("a client whose identity is removed is notified and closed")
  func revoked() async throws {
    let (mine, yours) = ("0123456789abcdef", "123456789abcdef0")
    let credentials = Credentials(
      try TokenTable(parsing: "me \(mine)\nyou \(yours)".utf8))
    try await withServer(credentials: credentials) { server in
      let me = try await ClientConnection.connect(to: server.addresses[0])
      let you = try await ClientConnection.connect(to: server.addresses[0])
      try await me.introduce(mine)
      try await you.introduce(yours)
      credentials.replace(with: try TokenTable(parsing: "me \(mine)".utf8))
      server.credentialsChanged()
      #expect(try await you.receiveText()?.contains("-32016") == true)
      #expect(try await you.receive() == nil)
      #expect(try await me.pings())
      await me.close()
      await you.close()
    }
  }

  @Test("a client over the byte rate has to wait, and loses nothing")
  func bytes() async throws {
    var limits = ServerLimits()
    limits.bytesPerSecond = 200_000
    try await withServer(limits: limits) { server in
      let flooding = try await ClientConnection.connect(to: server.addresses[0])
      let padding = String(repeating: " ", count: 999 - ping.utf8.count)
      let start = ContinuousClock.now
      async let sent: Void = {
        for _ in 0..<500 { try await flooding.send(ping + padding) }
      }()
      let other = try await ClientConnection.connect(to: server.addresses[0])
      #expect(try await other.pings())
      for _ in 0..<500 { #expect(try await flooding.receiveText() == pong) }
      try await sent
      // The rate of one second may arrive immediately, so the remainder takes more than a second on
      // any machine.
      #expect(start.duration(to: .now) > .seconds(1))
      #expect(try await other.pings())
      await flooding.close()
      await other.close()
    }
  }

  @Test("a Unix socket accepts only processes of its owner", .enabled(if: geteuid() == 0))
  func otherUser() async throws {
    let folder = try TestFolder()
    let socket = folder.file("s")
    try await withServer(.unix(path: socket)) { server in
      // Permissions as after a mistake of an administrator.
      chmod(folder.path, 0o755)
      chmod(socket, 0o777)
      let script = """
        import os, socket, sys
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
        s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
        data = b""
        while chunk := s.recv(4096): data += chunk
        sys.stdout.write(data.decode()); sys.stdout.flush()
        """
      let untrusted = try await ClientConnection.spawn(["python3", "-c", script, socket])
      let response = try await untrusted.receiveText()
      #expect(response?.contains("-32016") == true, "\(response ?? "nothing")")
      #expect(try await untrusted.receive() == nil)
      await untrusted.close()
      let owner = try await ClientConnection.connect(to: server.addresses[0])
      #expect(try await owner.pings())
      await owner.close()
    }
  }
}

extension ClientConnection {
  static func introduction(_ token: String) -> String {
    #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"token":"\#(token)"}}"#
  }

  func introduce(_ token: String) async throws {
    try await send(Self.introduction(token))
    #expect(try await receiveText()?.contains("\"result\"") == true)
  }
}
