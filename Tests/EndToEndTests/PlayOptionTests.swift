// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("Options of statewire play", .timeLimit(.minutes(15)))
struct PlayOptionTests {
  @Test(
    "unusable combinations of TLS options are refused",
    arguments: [
      ["--connect", "127.0.0.1:1", "--tls-ca", "ca.pem"],
      ["--connect", "ws://127.0.0.1:1", "--tls-cert", "c.pem", "--tls-key", "k.pem"],
      ["--tls-ca", "ca.pem"],
      ["--connect", "tls://127.0.0.1:1", "--tls-cert", "c.pem"],
      ["--connect", "wss://127.0.0.1:1", "--tls-key", "k.pem"],
    ])
  func trust(_ options: [String]) throws {
    let result = try Program.run(["play"] + options + ["some.conversation"], input: "")
    #expect(result.status == 64)
    #expect(result.errors.hasPrefix("Error: --tls-"), "\(result.errors)")
  }
}
