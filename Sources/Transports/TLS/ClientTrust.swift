// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOSSL

/// Whom a client takes for its server over TLS, and what it proves to be itself.
public struct ClientTrust: Sendable, Equatable {
  /// The path of the certificates, in PEM, one of which must have signed that of the server; nil:
  /// those that the system trusts.
  public var authority: String?
  /// The path of the client's own certificate, in PEM, where the server asks for one.
  public var certificate: String?
  /// The path of its key, in PEM.
  public var key: String?

  /// What the system trusts, and nothing of its own.
  public init() {}

  /// What a client begins a connection with.
  /// - Throws: What is wrong with the files, or with the name of the server.
  func handler(host: String) throws -> any ChannelHandler {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    if let authority {
      configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authority))
    }
    if let certificate {
      configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(certificate)
        .map { .certificate($0) }
    }
    if let key {
      configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
    }
    let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
    // An address is no server name; the certificate is then compared with where the peer is.
    return try NIOSSLClientHandler(
      context: NIOSSLContext(configuration: configuration), serverHostname: isAddress ? nil : host)
  }
}
