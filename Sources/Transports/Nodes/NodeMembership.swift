// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOSSL
public import ServerCore
internal import TransportSupport

/// A server's place among other nodes that share a journal.
public struct NodeMembership: Sendable {
  /// The ownership of sessions.
  public let ownership: any SessionOwnership
  /// The secret that all nodes have.
  public let secret: NodeSecret
  /// The time after which other nodes may own the sessions of a node that does not renew its lease.
  public let lease: Duration
  /// The path of the certificates, in PEM, one of which must have signed those of other nodes; nil
  /// for the certificates that the system trusts.
  public var authority: String?
  /// The paths of this node's certificate and private key, in PEM, for nodes that require one.
  public var certificate: (chain: String, key: String)?
  /// The time for which clients wait for a database that does not renew the lease.
  public var patience = Duration.seconds(20)
  /// True if nodes on other machines are reached without TLS.
  public var isInsecure = false

  /// Creates a membership.
  public init(ownership: any SessionOwnership, secret: NodeSecret, lease: Duration) {
    (self.ownership, self.secret, self.lease) = (ownership, secret, lease)
  }

  /// The settings of connections.
  public var settings: NodeSettings {
    // A dead node is removed after the lease; a node that has just started waits as long before.
    NodeSettings(secret: secret, patience: lease * 3 + .seconds(5))
  }

  /// Reads the certificates.
  ///
  /// - Throws: `StartupError`.
  func tlsContext() throws(StartupError) -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    do {
      if let authority {
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authority))
      }
      if let certificate {
        configuration.certificateChain =
          try NIOSSLCertificate.fromPEMFile(certificate.chain).map { .certificate($0) }
        configuration.privateKey = .privateKey(
          try NIOSSLPrivateKey(file: certificate.key, format: .pem))
      }
      return try NIOSSLContext(configuration: configuration)
    } catch {
      let path = authority ?? certificate?.chain ?? ""
      throw StartupError(
        "the certificates for other nodes in \(path) cannot be used: \(PEMFile.reason(path, error))",
        cause: error)
    }
  }
}
