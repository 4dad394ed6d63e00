// SPDX-License-Identifier: Apache-2.0

internal import Transports

/// A TCP address on the command line; other options select TLS and HTTP.
struct ListenerAddress: Sendable, Hashable {
  let host: String
  let port: Int

  init(host: String, port: Int) { (self.host, self.port) = (host, port) }

  /// Parses `HOST:PORT` or `tcp://HOST:PORT`; nil if the text has another form.
  init?(_ text: String) {
    guard case .tcp(let host, let port)? = ServerAddress(text) else { return nil }
    (self.host, self.port) = (host, port)
  }

  /// Returns the address for framed messages over TCP, or over TLS.
  func tcp(isSecured: Bool) -> ServerAddress {
    isSecured ? .tls(host: host, port: port) : .tcp(host: host, port: port)
  }

  /// Returns the address for HTTP and WebSockets, over TCP or over TLS.
  func web(isSecured: Bool) -> ServerAddress {
    isSecured ? .secureWeb(host: host, port: port) : .web(host: host, port: port)
  }

  /// True if only this machine can reach it.
  var isLoopback: Bool {
    host.lowercased() == "localhost" || host == "::1"
      || (host.hasPrefix("127.")
        && host.utf8.allSatisfy { $0 == 0x2E || (0x30...0x39).contains($0) })
  }
}
