// SPDX-License-Identifier: Apache-2.0

/// A classification of the first bytes of a stream, which show whether it carries JSON-RPC.
///
/// A web page can make a browser send an HTTP request to any TCP port, with a body that the page
/// chooses. A server that skipped the lines of such a request until one of them is a message would
/// execute the page's messages. A stream of another protocol is therefore not read beyond its first
/// bytes.
///
/// - Source: RFC 9110 §9.1 (methods are in upper case); RFC 8446 §5.1 (22 is a TLS handshake); RFC
///   4253 §4.2 (`SSH-`); Language Server Protocol 3.17, "Header Part".
enum Opening: Equatable {
  /// A JSON object or array: frames are lines.
  case lines
  /// One of the two headers of the Language Server Protocol.
  case headers
  case foreign(ForeignProtocol)

  /// Classifies the bytes of a stream, starting with the first one that is not white space.
  ///
  /// - Returns: Nil if more bytes are needed, at most 21 in total. More bytes never change a
  ///   result.
  init?(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return nil }
    let lowerCase = bytes.map { Self.isUpperCase($0) ? $0 | 0x20 : $0 }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
      self = .lines
    } else if Self.headerNames.contains(where: { lowerCase.starts(with: $0) }) {
      self = .headers
    } else if Self.headerNames.contains(where: { $0.starts(with: lowerCase) }) {
      return nil
    } else if first == 0x16 {
      self = .foreign(.tls)
    } else if bytes.starts(with: "SSH-".utf8) {
      self = .foreign(.ssh)
    } else {
      let method = bytes.prefix(Self.maximumMethodBytes).prefix {
        Self.isUpperCase($0) || $0 == UInt8(ascii: "-")
      }
      if method.count == bytes.count { return nil }
      let isMethod = !method.isEmpty && bytes[method.count] == UInt8(ascii: " ")
      self = .foreign(isMethod ? .http : .other)
    }
  }

  private static let headerNames = [Array("content-length:".utf8), Array("content-type:".utf8)]
  // The longest registered method, UPDATEREDIRECTREF, has 17 bytes.
  private static let maximumMethodBytes = 20

  private static func isUpperCase(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }
}
