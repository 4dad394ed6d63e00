// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ClientTransports

/// The options for connections over TLS.
struct TrustOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Over TLS, trust servers with a certificate of one of these authorities, in PEM.",
      valueName: "file"))
  var tlsCa: String?

  @Option(
    help: ArgumentHelp("Over TLS, send this certificate to the server, in PEM.", valueName: "file"))
  var tlsCert: String?

  @Option(help: ArgumentHelp("Private key of the certificate, in PEM.", valueName: "file"))
  var tlsKey: String?

  /// - Parameter isSecure: True if the connection uses TLS.
  /// - Throws: `ValidationError`.
  func validate(isSecure: Bool) throws {
    guard [tlsCa, tlsCert, tlsKey].allSatisfy({ $0 == nil }) || isSecure else {
      throw ValidationError("--tls-… requires --connect tls://… or wss://…")
    }
    guard (tlsCert == nil) == (tlsKey == nil) else {
      throw ValidationError("--tls-cert and --tls-key must be passed together")
    }
  }

  /// The servers to accept.
  var trust: ClientTrust {
    var trust = ClientTrust()
    (trust.authority, trust.certificate, trust.key) = (tlsCa, tlsCert, tlsKey)
    return trust
  }
}

extension ServerAddress {
  /// True if a connection to the address uses TLS.
  var isSecure: Bool {
    switch self {
    case .tls, .secureWeb: true
    case .tcp, .web, .unix: false
    }
  }

  /// True if messages are those of a WebSocket.
  var isWeb: Bool {
    switch self {
    case .web, .secureWeb: true
    case .tcp, .tls, .unix: false
    }
  }
}
