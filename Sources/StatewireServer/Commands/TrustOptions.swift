// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import ClientTransports

/// The options of commands for connections over TLS.
public struct TrustOptions: ParsableArguments {
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

  /// Creates the options without values.
  public init() {}

  /// True if one of the options is given.
  public var areGiven: Bool { [tlsCa, tlsCert, tlsKey].contains { $0 != nil } }

  /// Checks that certificate and key are given together.
  ///
  /// - Throws: `ValidationError`.
  public func validate() throws {
    guard (tlsCert == nil) == (tlsKey == nil) else {
      throw ValidationError("--tls-cert and --tls-key must be passed together")
    }
  }

  /// Checks that the options are given only for a connection that uses TLS.
  ///
  /// - Parameter isSecure: True if the connection uses TLS.
  /// - Throws: `ValidationError`.
  public func validate(isSecure: Bool) throws {
    guard !areGiven || isSecure else {
      throw ValidationError("--tls-… requires --connect tls://… or wss://…")
    }
  }

  /// The servers to accept.
  public var trust: ClientTrust {
    var trust = ClientTrust()
    (trust.authority, trust.certificate, trust.key) = (tlsCa, tlsCert, tlsKey)
    return trust
  }
}
