// SPDX-License-Identifier: Apache-2.0

/// An address at which a server listens and to which a client connects.
public enum ServerAddress: Sendable, Hashable {
  /// TCP. `host` is a name or an address; an IPv6 address has no brackets. Port 0 is for listening:
  /// the system selects a free port.
  case tcp(host: String, port: Int)
  /// TCP with TLS; `host` and `port` as in `tcp`.
  case tls(host: String, port: Int)
  /// A Unix domain socket; `path` is the path of the socket file.
  case unix(path: String)
  /// HTTP, with a WebSocket at the path `/`; `host` and `port` as in `tcp`.
  case web(host: String, port: Int)
  /// HTTP over TLS; otherwise the same as `web`.
  case secureWeb(host: String, port: Int)

  /// Parses an address; nil if the text has none of these forms:
  ///
  /// - `HOST:PORT` or `[::1]:PORT`, optionally after `tcp://`, `tls://`, `http://`, `https://`,
  ///   `ws://` or `wss://`;
  /// - `unix:PATH`;
  /// - a path that contains a `/`.
  public init?(_ text: String) {
    if let path = text.dropping(prefix: "unix:") {
      guard !path.isEmpty else { return nil }
      self = .unix(path: path)
    } else if let address = text.dropping(prefix: "tcp://") {
      self.init(tcp: address)
    } else if let address = text.dropping(prefix: "tls://") {
      guard case .tcp(let host, let port)? = ServerAddress(tcp: address) else { return nil }
      self = .tls(host: host, port: port)
    } else if let address = text.dropping(prefix: "http://") ?? text.dropping(prefix: "ws://") {
      guard case .tcp(let host, let port)? = ServerAddress(tcp: address) else { return nil }
      self = .web(host: host, port: port)
    } else if let address = text.dropping(prefix: "https://") ?? text.dropping(prefix: "wss://") {
      guard case .tcp(let host, let port)? = ServerAddress(tcp: address) else { return nil }
      self = .secureWeb(host: host, port: port)
    } else if text.utf8.contains(UInt8(ascii: "/")) {
      self = .unix(path: text)
    } else {
      self.init(tcp: text)
    }
  }

  private init?(tcp text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits),
      (0...65535).contains(port)
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(where: { ":[]".contains($0) }) {
      // An IPv6 address without brackets: the end of the address and the start of the port are
      // ambiguous.
      return nil
    }
    guard !host.isEmpty, !host.utf8.contains(UInt8(ascii: "/")) else { return nil }
    self = .tcp(host: String(host), port: port)
  }
}

extension ServerAddress: CustomStringConvertible {
  /// The text form, which `init(_:)` can parse.
  public var description: String {
    switch self {
    case .tcp(let host, let port): Self.description(host, port)
    case .tls(let host, let port): "tls://" + Self.description(host, port)
    case .unix(let path): "unix:\(path)"
    case .web(let host, let port): "http://" + Self.description(host, port)
    case .secureWeb(let host, let port): "https://" + Self.description(host, port)
    }
  }

  /// Returns `HOST:PORT`, with an IPv6 address in brackets.
  package static func description(_ host: String, _ port: Int) -> String {
    host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}

extension String {
  fileprivate func dropping(prefix: String) -> String? {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
  }
}
