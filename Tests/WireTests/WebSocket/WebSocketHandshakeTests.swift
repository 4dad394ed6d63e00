// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Wire

@Suite("WebSocket handshake")
struct WebSocketHandshakeTests {
  @Test("the response to the key of the example in RFC 6455 is the documented one")
  func example() {
    #expect(
      WebSocketHandshake.accept(for: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
  }

  @Test(
    "the response is recognized in exactly one header, compared by bytes",
    arguments: [
      ("Sec-WebSocket-Accept: KEY", true), ("SEC-websocket-accept:KEY \t", true),
      ("Sec-WebSoc\u{212A}et-Accept: KEY", false), ("Sec-WebSocket-Accept: x KEY", false),
      ("Sec-WebSocket-Accept: K EY", false), ("Sec-WebSocket-Accept: KEY x", false),
      ("Sec-WebSocket-Accept:", false),
      ("X-Sec-WebSocket-Accept: KEY", false), ("KEY", false),
    ])
  func header(_ line: String, _ expected: Bool) {
    let line = line.replacing("KEY", with: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
      .replacing("K EY", with: "s3pPLMBiTxaQ9k YGzzhZRbK+xOo=")
    #expect(
      WebSocketHandshake.isAccept(line[...], for: "dGhlIHNhbXBsZSBub25jZQ==") == expected)
  }

  /// - Source: RFC 3174 §7.3, FIPS 180-2 appendix A.
  @Test(
    "SHA-1 gives the digests of the standards",
    arguments: [
      ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
      ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
      ),
      (String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
    ])
  func digests(_ text: String, _ digest: String) {
    let hexadecimal = SHA1.digest(of: Array(text.utf8)).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    #expect(hexadecimal.joined() == digest)
  }

  @Test("a key is 16 bytes in Base64")
  func keys() {
    #expect(WebSocketHandshake.isKey(WebSocketHandshake.newKey()))
    #expect(!WebSocketHandshake.isKey("dGhlIHNhbXBsZSBub25jZQ="))
    #expect(!WebSocketHandshake.isKey("dGhlIHNhbXBsZSBub25jZQ-="))
    #expect(!WebSocketHandshake.isKey("dGhlIHNhbXBsZSBub25jZ_=="))
  }
}
