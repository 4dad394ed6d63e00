// SPDX-License-Identifier: Apache-2.0

/// An `http` or `https` URL that the operator names.
///
/// It is parsed here and not by Foundation's `URL`, so that a redirect is compared with exactly the
/// server that is connected to: a request goes to the text that was checked, byte for byte.
///
/// - Shape: `http[s]://host[:port][/path][?query]`, in ASCII; a fragment is dropped.
/// - Source: RFC 3986 §3.
public struct HTTPAddress: Hashable, Sendable {
  /// The scheme in lower case: `http` or `https`.
  let scheme: String
  /// The host in lower case; an IPv6 address keeps its brackets.
  let host: String
  let port: Int
  /// The path and the query; starts with a slash.
  let target: String

  /// Parses a URL.
  ///
  /// - Throws: `SourceError` with one sentence that does not quote the URL.
  public init(_ text: String) throws(SourceError) {
    let bytes = Array(text.utf8)
    guard let schemeEnd = bytes.firstIndex(of: UInt8(ascii: ":")),
      let scheme = Self.schemes.first(where: {
        $0.utf8.elementsEqual(bytes[..<schemeEnd].lazy.map(\.asciiLowercased))
      }),
      bytes[schemeEnd...].starts(with: "://".utf8)
    else { throw SourceError("a URL must start with http:// or https://") }
    let rest = bytes[(schemeEnd + 3)...]
    let authorityEnd = rest.firstIndex(where: "/?#".utf8.contains) ?? rest.endIndex
    guard !rest[..<authorityEnd].contains(UInt8(ascii: "@")) else {
      throw SourceError("a URL must not hold a user name or a password")
    }
    guard let (host, port) = Self.hostAndPort(rest[..<authorityEnd]) else {
      throw SourceError("a URL must name a host, and its port must be between 1 and 65535")
    }
    guard let target = Self.target(rest[authorityEnd...]) else {
      throw SourceError("a URL must percent-encode characters that are not allowed in it")
    }
    self.init(
      scheme: scheme, host: host, port: port ?? (scheme == "https" ? 443 : 80), target: target)
  }

  private init(scheme: String, host: String, port: Int, target: String) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.target = target
  }

  /// The scheme, host and port. Only they may be logged, since a path or query may contain a key.
  public var origin: String { "\(scheme)://\(host):\(port)" }

  /// The whole URL.
  public var url: String { origin + target }

  /// Returns the same server with another path and query.
  func replacing(target: String) -> HTTPAddress {
    HTTPAddress(scheme: scheme, host: host, port: port, target: target)
  }

  private static let schemes = ["http", "https"]

  private static func hostAndPort(_ bytes: ArraySlice<UInt8>) -> (host: String, port: Int?)? {
    let hostEnd: Int
    if bytes.first == UInt8(ascii: "[") {
      guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")),
        bytes[bytes.startIndex..<bracket].dropFirst().contains(UInt8(ascii: ":")),
        bytes[bytes.startIndex..<bracket].dropFirst().allSatisfy(\.isInIPv6Address)
      else { return nil }
      hostEnd = bracket + 1
    } else {
      hostEnd = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
      guard hostEnd > bytes.startIndex, bytes[..<hostEnd].allSatisfy(\.isInHostName) else {
        return nil
      }
    }
    let host = String(decoding: bytes[..<hostEnd].map(\.asciiLowercased), as: UTF8.self)
    let rest = bytes[hostEnd...]
    if rest.isEmpty { return (host, nil) }
    guard rest.first == UInt8(ascii: ":") else { return nil }
    let digits = rest.dropFirst()
    // RFC 3986 §3.2.3: the port may be empty after its colon.
    if digits.isEmpty { return (host, nil) }
    guard digits.allSatisfy(\.isDigit), let port = Int(String(decoding: digits, as: UTF8.self)),
      (1...65535).contains(port)
    else { return nil }
    return (host, port)
  }

  /// Returns the path and query from the bytes after the host; nil if they contain characters that
  /// a URL cannot have.
  static func target(_ bytes: ArraySlice<UInt8>) -> String? {
    let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
    let target = bytes[..<end]
    guard target.allSatisfy(\.isInPathOrQuery) else { return nil }
    let text = String(decoding: target, as: UTF8.self)
    return target.first == UInt8(ascii: "/") ? text : "/" + text
  }
}

// MARK: - Characters of RFC 3986

extension UInt8 {
  /// The byte with A to Z in lower case.
  var asciiLowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }

  var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  private var isLetter: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
  }

  fileprivate var isInIPv6Address: Bool {
    isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
      || self == UInt8(ascii: ":") || self == UInt8(ascii: ".")
  }

  /// True for characters of registered names and IPv4 addresses, which are fewer than §3.2.2
  /// allows.
  fileprivate var isInHostName: Bool { isLetter || isDigit || "-._".utf8.contains(self) }

  fileprivate var isInPathOrQuery: Bool {
    isLetter || isDigit || "-._~!$&'()*+,;=:@/?%".utf8.contains(self)
  }
}
