// SPDX-License-Identifier: Apache-2.0

import Testing
import TransportSupport

@Suite("Server address")
struct ServerAddressTests {
  @Test(
    "a server address is a host with a port, or a path",
    arguments: [
      ("localhost:80", .tcp(host: "localhost", port: 80)),
      ("127.0.0.1:65535", .tcp(host: "127.0.0.1", port: 65535)),
      ("tcp://example.org:1", .tcp(host: "example.org", port: 1)),
      ("[::1]:7000", .tcp(host: "::1", port: 7000)),
      ("tcp://[fe80::1%eth0]:7000", .tcp(host: "fe80::1%eth0", port: 7000)),
      ("tls://example.org:443", .tls(host: "example.org", port: 443)),
      ("tls://[::1]:443", .tls(host: "::1", port: 443)),
      ("unix:state.sock", .unix(path: "state.sock")),
      ("unix:/run/a:80", .unix(path: "/run/a:80")),
      ("/run/state.sock", .unix(path: "/run/state.sock")),
      ("./s", .unix(path: "./s")),
    ] as [(String, ServerAddress)])
  func addresses(text: String, address: ServerAddress) {
    #expect(ServerAddress(text) == address)
    #expect(ServerAddress(address.description) == address)
  }

  @Test(
    "other texts are not server addresses",
    arguments: [
      "", "localhost", ":80", "localhost:", "localhost:65536", "localhost:+80",
      "localhost:8O", "::1:80", "[::1]", "[]:80", "[::1:80", "unix:", "tcp://", "tcp:///a:80",
      "tls://", "tls:///a:80", "tls://a",
      "localhost:99999999999999999999",
    ])
  func refused(text: String) {
    #expect(ServerAddress(text) == nil)
  }
}
