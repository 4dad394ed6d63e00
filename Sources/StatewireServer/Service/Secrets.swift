// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Logging
internal import ServerCore
internal import Transports

/// The tokens and certificates of the server, which can be reloaded while it runs.
struct Secrets: Sendable {
  private let tokenFile: String?
  private let logger: Logger
  let credentials: Credentials?
  let certificate: ServerCertificate?

  /// Reads the files.
  ///
  /// - Throws: `StartupError`, without any of their contents.
  init(_ configuration: ServerConfiguration) throws(StartupError) {
    (tokenFile, logger) = (configuration.tokenFile, configuration.logger)
    if let tokenFile {
      credentials = Credentials(try Self.tokens(tokenFile, logger))
    } else {
      credentials = nil
    }
    if let files = configuration.certificate {
      certificate = try ServerCertificate(
        certificate: files.certificate, key: files.key, clientAuthority: files.clientAuthority)
    } else {
      certificate = nil
    }
  }

  /// Reads the files again. If one cannot be used, its previous contents stay in use.
  func reload(_ server: Server) {
    if let tokenFile, let credentials {
      report("reloaded the tokens") { () throws(StartupError) in
        credentials.replace(with: try Self.tokens(tokenFile, again: true, logger))
        server.credentialsChanged()
      }
    }
    if let certificate {
      report("reloaded the certificate") { () throws(StartupError) in
        try certificate.reload()
      }
    }
  }

  // A device may never end.
  private static let maximumBytes = 16 << 20

  private func report(_ success: Logger.Message, _ body: () throws(StartupError) -> Void) {
    do {
      try body()
      logger.notice(success)
    } catch {
      logger.error("reload failed, the previous contents stay in use: \(error)")
    }
  }

  private static func tokens(
    _ path: String, again: Bool = false, _ logger: Logger
  ) throws(StartupError) -> TokenTable {
    var status = stat()
    // A pipe is accepted, so that a token need not be in a file; but it can be read only once.
    if again, stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      throw StartupError(
        "the tokens in \(path) cannot be reloaded, because it is not a regular file")
    }
    let file: WholeFile
    do throws(WholeFile.Fault) {
      file = try WholeFile(path, maximumBytes: maximumBytes)
    } catch {
      throw StartupError("the tokens in \(path) cannot be read: \(error)", cause: error)
    }
    if file.isRegular, file.mode & 0o077 != 0 {
      logger.warning(
        "other users may read or change the tokens in \(path); set its permissions to 600")
    }
    do {
      return try TokenTable(parsing: file.bytes)
    } catch {
      throw StartupError("the tokens in \(path) cannot be used: \(error)", cause: error)
    }
  }
}
