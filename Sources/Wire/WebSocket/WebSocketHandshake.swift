// SPDX-License-Identifier: Apache-2.0

/// The opening handshake: the server proves that it supports WebSocket by a value computed from the
/// client's key.
///
/// - Source: RFC 6455 §4.2.2, whose example the tests use.
package enum WebSocketHandshake {
  /// Returns the value of `Sec-WebSocket-Accept` for a client's key.
  package static func accept(for key: String) -> String {
    base64(SHA1.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
  }

  /// Returns true if a header line of a response is `Sec-WebSocket-Accept` with the value for a
  /// key.
  package static func isAccept(_ line: Substring, for key: String) -> Bool {
    let parts = line.split(separator: ":", maxSplits: 1)
    return parts.count == 2 && parts[0].isSame(ignoringASCIICase: "Sec-WebSocket-Accept")
      && parts[1].utf8.trimmingBlanks.elementsEqual(accept(for: key).utf8)
  }

  /// Returns the first supported subprotocol of those that a client offers; nil if there is none.
  /// Frames are the same for each subprotocol and without one.
  package static func subprotocol(of offered: [Substring]) -> String? {
    offered.first { ["statewire", "jsonrpc"].contains($0) }.map(String.init)
  }

  /// Returns a new random key.
  package static func newKey() -> String {
    base64((0..<16).map { _ in UInt8.random(in: .min ... .max) })
  }

  /// Returns true if a key is 16 bytes in Base64.
  package static func isKey(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == 24 && bytes.suffix(2).elementsEqual("==".utf8)
      && bytes.dropLast(2).allSatisfy { alphabet.contains($0) }
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Encodes bytes in Base64.
  ///
  /// - Source: RFC 4648 §4.
  private static func base64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let part = bytes[start..<min(start + 3, bytes.count)]
      var bits = part.reduce(0) { $0 << 8 | Int($1) } << ((3 - part.count) * 8)
      var group: [UInt8] = []
      for index in (0..<4).reversed() {
        group.insert(index > part.count ? UInt8(ascii: "=") : alphabet[bits & 0x3F], at: 0)
        bits >>= 6
      }
      text += group
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// The Secure Hash Algorithm 1. It protects no secret here; the WebSocket protocol requires it.
///
/// - Source: RFC 3174 §4 to §6.
enum SHA1 {
  static func digest(of message: [UInt8]) -> [UInt8] {
    var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
    var padded = message + [0x80]
    while padded.count % 64 != 56 { padded.append(0) }
    padded += bytes(of: UInt64(message.count) * 8)
    for start in stride(from: 0, to: padded.count, by: 64) {
      mix(padded[start..<(start + 64)], into: &state)
    }
    return state.flatMap { bytes(of: $0) }
  }

  private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
    var words: [UInt32] = stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
      block[start..<(start + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }
    for index in 16..<80 {
      words.append(
        rotate(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], by: 1))
    }
    var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
    for (index, word) in words.enumerated() {
      let (choice, constant): (UInt32, UInt32) =
        switch index {
        case ..<20: (b & c | ~b & d, 0x5A82_7999)
        case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
        case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
        default: (b ^ c ^ d, 0xCA62_C1D6)
        }
      (a, b, c, d, e) = (
        rotate(a, by: 5) &+ choice &+ e &+ word &+ constant, a, rotate(b, by: 30), c, d
      )
    }
    for (index, value) in [a, b, c, d, e].enumerated() { state[index] &+= value }
  }

  private static func rotate(_ word: UInt32, by count: UInt32) -> UInt32 {
    word << count | word >> (32 - count)
  }

  private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
    stride(from: number.bitWidth - 8, through: 0, by: -8).map {
      UInt8(truncatingIfNeeded: number >> $0)
    }
  }
}
