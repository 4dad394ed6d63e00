// SPDX-License-Identifier: Apache-2.0

internal import Admin
internal import Glibc
internal import Logging
internal import ServerCore
internal import StateMachines
internal import Transports

/// The tokens and certificates of the server, which can be reloaded while it runs.
final class Secrets: Sendable {
  private let logger: Logger
  private let files: Lock<Files>
  let credentials: Credentials?
  let certificate: ServerCertificate?
  /// The protection of the admin interface; nil for none.
  let adminAccess: AdminAccess?

  /// The files that are read.
  struct Files: Sendable {
    var tokens: String?
    var certificate: CertificateFiles?
    var adminTokens: String?
  }

  /// Reads the files.
  ///
  /// - Throws: `StartupError`, without any of their contents.
  init(_ configuration: ServerConfiguration) throws(StartupError) {
    let logger = configuration.logger
    self.logger = logger
    files = Lock(
      Files(
        tokens: configuration.tokenFile, certificate: configuration.certificate,
        adminTokens: configuration.adminTokenFile))
    credentials = try configuration.tokenFile.map { path throws(StartupError) in
      Credentials(try Self.tokens(path, logger))
    }
    certificate = try configuration.certificate.map { files throws(StartupError) in
      try ServerCertificate(
        certificate: files.certificate, key: files.key, clientAuthority: files.clientAuthority)
    }
    adminAccess = try configuration.adminTokenFile.map { [certificate] path throws(StartupError) in
      AdminAccess(
        credentials: Credentials(try Self.tokens(path, logger)), certificate: certificate)
    }
  }

  /// Reads the files again. If one cannot be used, its previous contents stay in use.
  ///
  /// - Parameter new: The files that replace those of the start; nil if they are the same. A server that
  ///   has started without tokens or a certificate continues without them.
  func reload(_ server: Server, _ new: Files? = nil) {
    let files = self.files.withLock { files in
      if let tokens = new?.tokens { files.tokens = tokens }
      if let certificate = new?.certificate { files.certificate = certificate }
      if let tokens = new?.adminTokens { files.adminTokens = tokens }
      return files
    }
    if let path = files.tokens, let credentials {
      report("reloaded the tokens") { () throws(StartupError) in
        credentials.replace(with: try Self.tokens(path, again: true, logger))
        server.credentialsChanged()
      }
    }
    if let path = files.adminTokens, let adminAccess {
      report("reloaded the operator tokens") { () throws(StartupError) in
        adminAccess.credentials.replace(with: try Self.tokens(path, again: true, logger))
      }
    }
    if let paths = files.certificate, let certificate {
      report("reloaded the certificate") { () throws(StartupError) in
        try certificate.reload(
          certificate: paths.certificate, key: paths.key, clientAuthority: paths.clientAuthority)
      }
    }
  }

  /// Returns the faults of files that can be read again: a pipe must not be read before the server does.
  static func faults(in files: Files, _ logger: Logger) -> [any Error] {
    var faults: [any Error] = []
    func attempt(_ paths: [String?], _ body: () throws -> Void) {
      var status = stat()
      let isPipe = paths.compactMap { $0 }.contains { path in
        stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
      }
      guard !isPipe else { return }
      do { try body() } catch { faults.append(error) }
    }
    for path in [files.tokens, files.adminTokens].compactMap({ $0 }) {
      attempt([path]) { _ = try tokens(path, logger) }
    }
    if let paths = files.certificate {
      attempt([paths.certificate, paths.key, paths.clientAuthority]) {
        _ = try ServerCertificate(
          certificate: paths.certificate, key: paths.key, clientAuthority: paths.clientAuthority)
      }
    }
    return faults
  }

  // A device may never end.
  private static let maximumBytes = 16 << 20

  private func report(_ success: Logger.Message, _ body: () throws(StartupError) -> Void) {
    do {
      try body()
      logger.notice(success)
    } catch {
      logger.error("cannot reload: \(error); continuing with the previous contents")
    }
  }

  private static func tokens(
    _ path: String, again: Bool = false, _ logger: Logger
  ) throws(StartupError) -> TokenTable {
    let file = try SecretFile(
      path, "the tokens", maximumBytes: maximumBytes, logger, isAgain: again)
    do {
      return try TokenTable(parsing: file.bytes)
    } catch {
      throw StartupError("the tokens in \(path) cannot be used: \(error)", cause: error)
    }
  }
}
