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

  /// What a client begins connections with.
  /// - Throws: `ClientError.unusableFile` or `.unusableFiles`.
  func context() throws(ClientError) -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    if let authority {
      configuration.trustRoots = .certificates(
        try Self.read(authority, NIOSSLCertificate.fromPEMFile))
    }
    if let certificate {
      configuration.certificateChain = try Self.read(certificate, NIOSSLCertificate.fromPEMFile)
        .map { .certificate($0) }
    }
    if let key {
      configuration.privateKey = .privateKey(
        try Self.read(key) { try NIOSSLPrivateKey(file: $0, format: .pem) })
    }
    do {
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw .unusableFiles(reason: "\(error)")
    }
  }

  /// What one connection begins with.
  static func handler(_ context: NIOSSLContext, host: String) throws -> NIOSSLClientHandler {
    let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
    // An address is no server name; the certificate is then compared with where the peer is.
    return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
  }

  private static func read<Content>(
    _ path: String, _ body: (String) throws -> Content
  ) throws(ClientError) -> Content {
    do {
      return try body(path)
    } catch {
      throw .unusableFile(path: path, reason: PEMFile.reason(path, error))
    }
  }
}
