// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
public import NIOSSL

/// The servers that a client trusts over TLS, and the client's own certificate.
public struct ClientTrust: Sendable, Equatable {
  /// The path of the certificates, in PEM, one of which must have signed the server's certificate;
  /// nil for the certificates that the system trusts.
  public var authority: String?
  /// The path of the client's own certificate, in PEM, if the server requires one; otherwise nil.
  public var certificate: String?
  /// The path of the certificate's private key, in PEM; nil without a certificate.
  public var key: String?

  /// Trusts the system's certificates, and has no certificate.
  public init() {}

  /// Reads the files and makes the configuration of connections. TLS 1.2 is the lowest version.
  ///
  /// - Throws: `ClientError.unusableFile`.
  public func configuration() throws(ClientError) -> TLSConfiguration {
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
    return configuration
  }

  /// Makes the context of connections.
  ///
  /// - Throws: `ClientError.unusableFile` or `.unusableFiles`.
  func context() throws(ClientError) -> NIOSSLContext {
    let configuration = try configuration()
    do {
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw .unusableFiles(reason: "\(error)")
    }
  }

  /// Makes the TLS handler of one connection.
  static func handler(_ context: NIOSSLContext, host: String) throws -> NIOSSLClientHandler {
    let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
    // A server name cannot be an address. For an address, the certificate is compared with the
    // address of the connection.
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
