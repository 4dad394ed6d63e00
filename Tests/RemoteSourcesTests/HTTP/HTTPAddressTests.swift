// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import RemoteSources

@Suite("HTTP address")
struct HTTPAddressTests {
  @Test(
    "a URL is split into origin and target",
    arguments: [
      ("http://example.com", "http://example.com:80", "/"),
      ("https://example.com/", "https://example.com:443", "/"),
      ("HTTPS://Example.COM:8443/A?B#C", "https://example.com:8443", "/A?B"),
      ("http://127.0.0.1:80", "http://127.0.0.1:80", "/"),
      ("http://[::1]:8080/x", "http://[::1]:8080", "/x"),
      ("http://[2001:DB8::1]", "http://[2001:db8::1]:80", "/"),
      ("http://a_b.local?x=%20", "http://a_b.local:80", "/?x=%20"),
      ("http://example.com:/x", "http://example.com:80", "/x"),
      ("http://example.com#f", "http://example.com:80", "/"),
    ])
  func parts(text: String, origin: String, target: String) throws {
    let address = try HTTPAddress(text)
    #expect(address.origin == origin)
    #expect(address.target == target)
  }

  @Test(
    "an invalid URL is refused in one sentence that does not quote it",
    arguments: [
      ("", "a URL must start with http:// or https://"),
      ("example.com/secret", "a URL must start with http:// or https://"),
      ("ftp://example.com/secret", "a URL must start with http:// or https://"),
      ("http:/example.com/secret", "a URL must start with http:// or https://"),
      ("unix:///secret", "a URL must start with http:// or https://"),
      ("http://me:secret@example.com/", "a URL must not hold a user name or a password"),
      ("http://", "a URL must name a host, and its port must be between 1 and 65535"),
      ("http:///secret", "a URL must name a host, and its port must be between 1 and 65535"),
      ("http://:80/", "a URL must name a host, and its port must be between 1 and 65535"),
      ("http://a:0/", "a URL must name a host, and its port must be between 1 and 65535"),
      ("http://a:65536/", "a URL must name a host, and its port must be between 1 and 65535"),
      ("http://a:+80/", "a URL must name a host, and its port must be between 1 and 65535"),
      ("http://[::1/", "a URL must name a host, and its port must be between 1 and 65535"),
      ("http://[::1]x/", "a URL must name a host, and its port must be between 1 and 65535"),
      ("http://[secret]/", "a URL must name a host, and its port must be between 1 and 65535"),
      ("http://exämple.com/", "a URL must name a host, and its port must be between 1 and 65535"),
      (#"http://a\b/"#, "a URL must name a host, and its port must be between 1 and 65535"),
      ("http://a/secret x", "a URL must percent-encode characters that are not allowed in it"),
      (
        "http://a/secret\r\nX: y", "a URL must percent-encode characters that are not allowed in it"
      ),
      ("http://a/é", "a URL must percent-encode characters that are not allowed in it"),
    ])
  func refused(text: String, message: String) {
    #expect(throws: SourceError(message)) { try HTTPAddress(text) }
    #expect(!message.contains("secret"))
  }
}
