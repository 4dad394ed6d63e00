// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import TestSupport
import Testing

@testable import Transports

@Suite("Listening sockets", .timeLimit(.minutes(15)))
struct ListeningSocketTests {
  @Test("clients connect by a name and by addresses of both protocols")
  func hosts() async throws {
    for host in ["localhost", "127.0.0.1", "::1"] {
      try await withServer(.tcp(host: host, port: 0)) { server in
        let client = try await ClientConnection.connect(to: server.addresses[0])
        #expect(try await client.pings())
        await client.close()
      }
    }
  }

  @Test("an IPv6 socket for all addresses has the clients of IPv4, too")
  func bothProtocols() async throws {
    try await withServer(.tcp(host: "::", port: 0)) { server in
      guard case .tcp(_, let port) = server.addresses[0] else { return }
      let client = try await ClientConnection.connect(to: .tcp(host: "127.0.0.1", port: port))
      #expect(try await client.pings())
      await client.close()
    }
  }

  @Test("a start that fails at a later listener leaves neither a socket nor a file")
  func failingStart() async throws {
    let folder = try TestFolder()
    let path = folder.file("s")
    try await withServer { server in
      let used = server.addresses[0]
      let error = await #expect(throws: StartupError.self) {
        try await Server.start(kinds: [], listeners: [.unix(path: path), used])
      }
      #expect(error?.description == "cannot listen on \(used): Address already in use")
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  @Test("TLS without a certificate is refused before a socket is opened")
  func noCertificate() async throws {
    let folder = try TestFolder()
    let path = folder.file("s")
    let error = await #expect(throws: StartupError.self) {
      try await Server.start(
        kinds: [], listeners: [.unix(path: path), .tls(host: "127.0.0.1", port: 0)])
    }
    #expect(error?.description.contains("TLS requires a certificate") == true)
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}
