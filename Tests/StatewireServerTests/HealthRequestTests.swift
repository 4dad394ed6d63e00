// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Testing

@testable import StatewireServer

@Suite("Request for the health of a server", .timeLimit(.minutes(5)))
struct HealthRequestTests {
  @Test(
    "an address is a host and a port, optionally with TLS",
    arguments: [
      ("127.0.0.1:7229", true), ("[::1]:7229", true), ("tls://example.org:7229", true),
      ("127.0.0.1", false), ("ws://127.0.0.1:7229", false), ("https://127.0.0.1:7229", false),
      ("unix:/run/statewire", false), ("", false),
    ])
  func addresses(text: String, isAccepted: Bool) {
    let request = HealthRequest(text, trust: ClientTrust(), token: nil)
    #expect((request != nil) == isAccepted)
  }

  @Test("the error of a server that cannot be reached names its address and the reason")
  func unreachable() async throws {
    // Port 1 of this machine has no server.
    let request = try #require(
      HealthRequest("127.0.0.1:1", trust: ClientTrust(), token: "operator"))
    let error = await #expect(throws: StartupError.self) {
      try await request.send(path: "/healthz")
    }
    #expect(error?.message.hasPrefix("no response from the server at 127.0.0.1:1: ") == true)
  }

  @Test("a certificate that cannot be read is an error before the request")
  func certificate() async throws {
    var trust = ClientTrust()
    trust.authority = "/does/not/exist.pem"
    let request = try #require(HealthRequest("tls://127.0.0.1:1", trust: trust, token: nil))
    let error = await #expect(throws: StartupError.self) {
      try await request.send(path: "/readyz")
    }
    #expect(error?.message.contains("/does/not/exist.pem") == true)
  }
}
