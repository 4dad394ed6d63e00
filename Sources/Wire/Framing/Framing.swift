// SPDX-License-Identifier: Apache-2.0

/// The way in which messages are delimited in a stream of bytes.
///
/// The client's first bytes choose the framing, and the server uses the same one. Both framings
/// carry UTF-8 JSON.
public enum Framing: Sendable, Hashable, CaseIterable {
  /// One message per line, each ended by `\n`.
  case lines
  /// `Content-Length: N`, an empty line, and N bytes; as in the Language Server Protocol.
  case headers

  /// Determines the framing of a JSON-RPC stream from its first byte that is not white space (see
  /// `Opening`).
  public init(firstByte: UInt8) {
    self = firstByte | 0x20 == UInt8(ascii: "c") ? .headers : .lines
  }
}
