// SPDX-License-Identifier: Apache-2.0

/// A host and a port, as `Host` and `Origin` name them.
struct Authority: Hashable {
  /// In lower case; an IPv6 address stands in brackets.
  var host: String
  /// Nil where none is named.
  var port: String?

  init?(_ text: some StringProtocol) {
    let text = text.lowercased()
    let end = text.hasPrefix("[") ? text.firstIndex(of: "]").map { text.index(after: $0) } : nil
    let hostEnd = end ?? text.firstIndex(of: ":") ?? text.endIndex
    host = String(text[..<hostEnd])
    let rest = text[hostEnd...]
    guard !host.isEmpty, rest.isEmpty || rest.hasPrefix(":") else { return nil }
    // Names in other scripts come as `xn--…`.
    guard host.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"/?#@\\".utf8.contains($0) }),
      rest.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    port = rest.count > 1 ? String(rest.dropFirst()) : nil
  }

  /// Whether it is a name that always means the machine itself.
  ///
  /// - Source: RFC 6761 §6.3 (localhost), RFC 1122 §3.2.1.3 (127.0.0.0/8), RFC 4291 §2.5.3 (::1).
  var isLoopback: Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { (1...3).contains($0.utf8.count) && UInt8($0) != nil }
  }
}

/// The site that a page was loaded from, as a browser says it.
///
/// - Source: RFC 6454 §6.1; WHATWG Fetch, "`Origin` header".
struct Origin: Hashable {
  /// The text in lower case, without the port that its scheme means anyway.
  let text: String
  /// Nil for one that is nobody's, `null`.
  let authority: Authority?
  private let isSecure: Bool

  init?(_ text: String) {
    let text = text.lowercased()
    if text == "null" {
      (self.text, authority, isSecure) = (text, nil, false)
      return
    }
    guard let colon = text.firstRange(of: "://"),
      var authority = Authority(text[colon.upperBound...])
    else { return nil }
    let scheme = text[..<colon.lowerBound]
    guard !scheme.isEmpty else { return nil }
    isSecure = scheme == "https"
    if authority.port == (isSecure ? "443" : scheme == "http" ? "80" : nil) { authority.port = nil }
    self.authority = authority
    self.text = scheme + "://" + authority.host + (authority.port.map { ":" + $0 } ?? "")
  }

  /// Whether it is where the request goes to.
  ///
  /// The scheme is not compared: whoever ends TLS before this server speaks to it without.
  func isSame(as host: Authority) -> Bool {
    guard let authority else { return false }
    let standard = isSecure ? "443" : "80"
    return authority.host == host.host && (authority.port ?? standard) == (host.port ?? standard)
  }
}
