// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// A host and a port, as in the fields `Host` and `Origin`.
package struct Authority: Hashable {
  /// In lower case; an IPv6 address has brackets.
  package var host: String
  /// The digits of the port; nil if there is none.
  var port: String?

  package init?(_ text: some StringProtocol) {
    // Names in other scripts are encoded as `xn--…`.
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"/?#@\\".utf8.contains($0) }) else {
      return nil
    }
    let text = text.asciiLowercased
    let end = text.hasPrefix("[") ? text.firstIndex(of: "]").map { text.index(after: $0) } : nil
    let hostEnd = end ?? text.firstIndex(of: ":") ?? text.endIndex
    host = String(text[..<hostEnd])
    let rest = text[hostEnd...]
    guard !host.isEmpty, rest.isEmpty || rest.hasPrefix(":"), rest.dropFirst().isASCIIDigits else {
      return nil
    }
    port = rest.count > 1 ? String(rest.dropFirst()) : nil
  }

  /// True if the name or address always means this machine.
  ///
  /// - Source: RFC 6761 §6.3 (localhost), RFC 1122 §3.2.1.3 (127.0.0.0/8), RFC 4291 §2.5.3 (::1).
  package var isLoopback: Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { $0.utf8.count <= 3 && $0.isASCIIDigits && UInt8($0) != nil }
  }
}

/// The origin of a page, as a browser sends it.
///
/// - Source: RFC 6454 §6.1; WHATWG Fetch, "`Origin` header".
package struct Origin: Hashable {
  /// The origin in lower case, without the default port of its scheme.
  let text: String
  /// Nil for the opaque origin, `null`.
  let authority: Authority?
  /// The default port of the scheme; nil if the scheme is neither `http` nor `https`.
  private let standardPort: String?

  package init?(_ text: String) {
    let text = text.asciiLowercased
    if text.utf8.elementsEqual("null".utf8) {
      (self.text, authority, standardPort) = (text, nil, nil)
      return
    }
    guard let colon = text.firstRange(of: "://"),
      var authority = Authority(text[colon.upperBound...])
    else { return nil }
    let scheme = text[..<colon.lowerBound]
    guard Self.isScheme(scheme) else { return nil }
    standardPort = ["http": "80", "https": "443"][scheme]
    if authority.port == standardPort { authority.port = nil }
    self.authority = authority
    self.text = scheme + "://" + authority.host + (authority.port.map { ":" + $0 } ?? "")
  }

  /// Returns true if the page comes from the host that the request is for.
  ///
  /// The scheme may be `http` or `https`: a proxy that terminates TLS connects to this server
  /// without it. Pages of other schemes are never this server's.
  package func matches(_ host: Authority) -> Bool {
    guard let authority, let standardPort else { return false }
    return authority.host == host.host
      && (authority.port ?? standardPort) == (host.port ?? standardPort)
  }

  /// - Source: RFC 3986 §3.1.
  private static func isScheme(_ text: Substring) -> Bool {
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    return text.utf8.first.map(letters.contains) == true
      && text.utf8.allSatisfy { letters.contains($0) || "0123456789+-.".utf8.contains($0) }
  }
}
