// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@Suite("store/state", .timeLimit(.minutes(15)))
struct StoreStateTests {
  static func state(_ id: String, _ store: String) -> String {
    request(id, "store/state", "{\"store\":\"\(store)\"}")
  }

  @Test("the response has the state, its revision and its digest, and the store opens on first use")
  func state() async throws {
    // The digests were computed with Python's `zlib.crc32` from a manually written RFC 8785 form.
    let client = TestClient()
    client.send(Self.state("1", "probe"), set("2", -7), Self.state("3", "probe"))
    try await client.expect(
      response("1", #"{"revision":0,"state":{"number":0,"text":""},"digest":\#(Digest.empty)}"#),
      sent("2", revision: 1),
      response(
        "3", #"{"revision":1,"state":{"number":-7,"text":""},"digest":\#(Digest.minusSeven)}"#))
  }

  @Test("the digest is computed from the canonical form, not from the text on the wire")
  func digest() async throws {
    let client = TestClient()
    client.send(
      send(
        "1", #"{"type":"put","number":1e21,"text":"\u20ac$\u000f\nA'B\"\\\u00e9"}"#, to: "loose"),
      Self.state("2", "loose"))
    let messages = try await client.messages(2)
    let result = try JSONValue(parsing: messages[1])["result"]
    #expect(result?["digest"]?.int == Digest.loose)
    // Also compares with the test's own bitwise checksum of the canonical form of the received
    // state.
    let canonical = try JSON.canonical(#require(result?["state"]))
    #expect(
      String(decoding: canonical, as: UTF8.self)
        == #"{"kept":null,"nested":{"a":[],"b":[1,2]},"number":1e+21,"text":"€$\u000f\nA'B\"\\é"}"#)
    #expect(result?["digest"]?.int == Int(crc32(canonical)))
  }

  @Test("a state without a canonical form has no digest, and still reaches subscribers")
  func noCanonicalForm() async throws {
    // A known gap: the state itself could be sent.
    for value in ["1e400", String(repeating: "[", count: 124) + String(repeating: "]", count: 124)]
    {
      let client = TestClient()
      client.send(
        send("1", #"{"type":"keep","value":\#(value)}"#, to: "loose"), Self.state("2", "loose"),
        subscribe("3", "loose"))
      let messages = try await client.messages(3)
      #expect(messages[2].hasSuffix("\"kept\":\(value)}}}"))
      if value == "1e400" {
        #expect(try Message(messages[1]) == Message(expected: failure("2", -32603)))
      } else {
        #expect(messages[1].contains("\"digest\":"))
      }
    }
  }

  @Test("invalid requests are refused")
  func refusals() async throws {
    try await Script(
      "errors",
      .send(
        Self.state("1", "none"), request("2", "store/state"),
        request("3", "store/state", #"{"store":{}}"#)),
      .expect(failure("1", -32010), refusal("2", path: "/store"), refusal("3", path: "/store"))
    ).run()
  }

  private enum Digest {
    static let empty = 2_969_048_830
    static let minusSeven = 2_008_188_576
    static let loose = 728_796_723
  }

  /// Returns the CRC-32 of IEEE 802.3, computed bit by bit.
  private func crc32(_ bytes: [UInt8]) -> UInt32 {
    var crc: UInt32 = .max
    for byte in bytes {
      for bit in 0..<8 {
        let isSet = (crc ^ UInt32(byte >> bit)) & 1 == 1
        crc = crc >> 1 ^ (isSet ? 0xEDB8_8320 : 0)
      }
    }
    return ~crc
  }
}
