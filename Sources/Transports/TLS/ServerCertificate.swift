// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import NIOSSL
internal import ServerCore
internal import TransportSupport

/// The server's certificate and key for TLS, and the authority of client certificates. It can be
/// reloaded while the server runs; connections that are accepted afterwards use the new files.
///
/// TLS 1.2 is the lowest version.
public final class ServerCertificate: Sendable {
  private let current: Lock<NIOSSLContext>

  /// Reads the files.
  ///
  /// - Parameters:
  ///   - certificate: The path of the server's certificate and its intermediate certificates, in
  ///     PEM.
  ///   - key: The path of the private key, in PEM.
  ///   - clientAuthority: The path of the certificates, in PEM, one of which must have signed a
  ///     client's certificate; nil if clients need no certificate.
  /// - Throws: `StartupError` that names the file.
  public init(
    certificate: String, key: String, clientAuthority: String? = nil
  ) throws(StartupError) {
    current = Lock(try Self.read(certificate, key, clientAuthority))
  }

  /// Reads the files again, or other ones. Open connections keep their certificate.
  ///
  /// - Parameters: As of `init`.
  /// - Throws: `StartupError` that names the file; the previous content stays in use then.
  public func reload(
    certificate: String, key: String, clientAuthority: String? = nil
  ) throws(StartupError) {
    for path in [certificate, key, clientAuthority] {
      if let path { try PEMFile.checkReadable(path) }
    }
    let context = try Self.read(certificate, key, clientAuthority)
    current.withLock { $0 = context }
  }

  package var context: NIOSSLContext { current.withLock { $0 } }

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
    // The time for a client to respond to close_notify.
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
