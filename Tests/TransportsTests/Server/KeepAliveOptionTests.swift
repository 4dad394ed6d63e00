// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Glibc
import ServerCore
import TestSupport
import Testing

@testable import Transports

@Suite("TCP keep-alive", .timeLimit(.minutes(15)))
struct KeepAliveOptionTests {
  @Test("a connection without data is probed after 60 s, then 3 times with 10 s between the probes")
  func options() async throws {
    try await withServer { server in
      let client = try await ClientConnection.connect(to: server.addresses[0])
      #expect(try await client.pings())
      guard case .tcp(_, let port) = server.addresses[0] else { throw NoSocket() }
      // The sockets of this process whose own address is that of the server, and that have a client.
      let accepted = (0..<Int32(4096)).filter {
        LoopbackAddress.port(of: $0, getsockname) == port
          && LoopbackAddress.port(of: $0, getpeername) != nil
      }
      let socket = try #require(accepted.first)
      #expect(accepted.count == 1)
      #expect(Self.option(socket, SOL_SOCKET, SO_KEEPALIVE) == 1)
      #expect(Self.option(socket, Int32(IPPROTO_TCP), TCP_KEEPIDLE) == 60)
      #expect(Self.option(socket, Int32(IPPROTO_TCP), TCP_KEEPINTVL) == 10)
      #expect(Self.option(socket, Int32(IPPROTO_TCP), TCP_KEEPCNT) == 3)
      await client.close()
    }
  }

  private struct NoSocket: Error {}

  private static func option(_ descriptor: Int32, _ level: Int32, _ name: Int32) -> Int32? {
    var (value, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    return getsockopt(descriptor, level, name, &value, &size) == 0 ? value : nil
  }
}
