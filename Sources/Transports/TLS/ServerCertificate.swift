// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOSSL
internal import ServerCore
internal import TransportSupport

/// What a server proves with who it is, and whom it lets prove the same; it can be read again while
/// the server runs, for the connections that come then.
///
/// TLS 1.2 at least.
public final class ServerCertificate: Sendable {
  private let certificate: String
  private let key: String
  private let clientAuthority: String?
  private let current: Lock<NIOSSLContext>

  /// Reads the files.
  ///
  /// - Parameters:
  ///   - certificate: The path of the certificate and of those that lead to its root, in PEM.
  ///   - key: The path of its private key, in PEM.
  ///   - clientAuthority: The path of the certificates, in PEM, one of which must have signed that
  ///     of a client; nil: clients need none.
  /// - Throws: `StartupError` that names the file.
  public init(
    certificate: String, key: String, clientAuthority: String? = nil
  ) throws(StartupError) {
    self.certificate = certificate
    self.key = key
    self.clientAuthority = clientAuthority
    current = Lock(try Self.read(certificate, key, clientAuthority))
  }

  /// Reads the files again; connections that are open keep what they have.
  /// - Throws: `StartupError`; what was read before stays then.
  public func reload() throws(StartupError) {
    for path in [certificate, key, clientAuthority] {
      if let path { try PEMFile.checkReadable(path) }
    }
    let context = try Self.read(certificate, key, clientAuthority)
    current.withLock { $0 = context }
  }

  var context: NIOSSLContext { current.withLock { $0 } }

  private static func read(
    _ certificate: String, _ key: String, _ clientAuthority: String?
  ) throws(StartupError) -> NIOSSLContext {
    let chain = try attempt("the certificate in \(certificate) cannot be used", certificate) {
      try NIOSSLCertificate.fromPEMFile(certificate)
    }
    let privateKey = try attempt("the key in \(key) cannot be used", key) {
      try NIOSSLPrivateKey(file: key, format: .pem)
    }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
    configuration.minimumTLSVersion = .tlsv12
    // How long a peer may take to agree to the end.
    configuration.shutdownTimeout = .seconds(1)
    if let clientAuthority {
      let authorities = try attempt(
        "the certificates in \(clientAuthority) cannot be used", clientAuthority
      ) {
        try NIOSSLCertificate.fromPEMFile(clientAuthority)
      }
      configuration.trustRoots = .certificates(authorities)
      configuration.certificateVerification = .noHostnameVerification
    }
    return try attempt("\(certificate) and \(key) cannot be used together") {
      try NIOSSLContext(configuration: configuration)
    }
  }

  private static func attempt<Value>(
    _ sentence: String, _ path: String? = nil, _ body: () throws -> Value
  ) throws(StartupError) -> Value {
    do {
      return try body()
    } catch {
      throw StartupError("\(sentence): \(PEMFile.reason(path, error))", cause: error)
    }
  }
}
