// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import TestSupport
import Testing

@testable import Transports

@Suite("File of a Unix socket", .timeLimit(.minutes(15)))
struct UnixSocketFileTests {
  @Test("a socket file with a listener is not removed, whatever path names it")
  func otherNames() async throws {
    let folder = try TestFolder()
    let path = folder.file("s")
    let address = ServerAddress.unix(path: path)
    try await withServer(address) { _ in
      for name in ["s", "./s", String(repeating: "./", count: 60) + "s"] {
        #expect(throws: StartupError.self, "\(name)") {
          try UnixSocketFile.removeStale(folder.file(name))
        }
      }
      let client = try await ClientConnection.connect(to: address)
      #expect(try await client.pings())
      await client.close()
    }
  }
}
