// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import ServerCore
import Transports

/// The tokens and certificates of the service, which are read again while it runs.
struct Secrets: Sendable {
  private let tokenFile: String?
  private let logger: Logger
  let credentials: Credentials?
  let certificate: ServerCertificate?

  /// Reads the files.
  /// - Throws: `StartupError`, which shows nothing of what is in them.
  init(
    tokenFile: String?, _ files: SecurityOptions.CertificateFiles?, _ logger: Logger
  ) throws(StartupError) {
    self.tokenFile = tokenFile
    self.logger = logger
    if let tokenFile {
      credentials = Credentials(try Self.tokens(tokenFile, logger))
    } else {
      credentials = nil
    }
    if let files {
      certificate = try ServerCertificate(
        certificate: files.certificate, key: files.key, clientAuthority: files.clientAuthority)
    } else {
      certificate = nil
    }
  }

  /// Reads the files again; what cannot be used leaves what was there before.
  func reload(_ server: Server) {
    if let tokenFile, let credentials {
      report("the tokens were read again") { () throws(StartupError) in
        credentials.replace(with: try Self.tokens(tokenFile, again: true, logger))
        server.credentialsChanged()
      }
    }
    if let certificate {
      report("the certificate was read again") { () throws(StartupError) in
        try certificate.reload()
      }
    }
  }

  // A device has no end.
  private static let maximumBytes = 16 << 20

  private func report(_ success: Logger.Message, _ body: () throws(StartupError) -> Void) {
    do {
      try body()
      logger.notice(success)
    } catch {
      logger.error("what was read before is kept: \(error)")
    }
  }

  private static func tokens(
    _ path: String, again: Bool = false, _ logger: Logger
  ) throws(StartupError) -> TokenTable {
    var status = stat()
    let isThere = stat(path, &status) == 0
    let isFile = isThere && status.st_mode & S_IFMT == S_IFREG
    // A pipe will do as well, so that a token need not be in a file; but once.
    if again, isThere, !isFile {
      throw StartupError("the tokens in \(path) are in no file, and are read once")
    }
    if isThere, status.st_mode & S_IFMT == S_IFDIR {
      throw StartupError("the tokens in \(path) cannot be read: \(systemMessage(EISDIR))")
    }
    guard let file = FileHandle(forReadingAtPath: path) else {
      throw StartupError(
        "the tokens in \(path) cannot be read: \(systemMessage(errno))")
    }
    var data = Data()
    do {
      // A pipe gives what it has, and more later.
      while data.count <= maximumBytes, let part = try file.read(upToCount: 64 << 10), !part.isEmpty
      {
        data.append(part)
      }
    } catch {
      throw StartupError(
        "the tokens in \(path) cannot be read: \(error.localizedDescription)", cause: error)
    }
    guard data.count <= maximumBytes else {
      throw StartupError("the tokens in \(path) are more than \(maximumBytes) bytes")
    }
    if isFile, status.st_mode & 0o077 != 0 {
      logger.warning("other users may read or change the tokens in \(path)")
    }
    do {
      return try TokenTable(parsing: data)
    } catch {
      throw StartupError("the tokens in \(path) cannot be used: \(error)", cause: error)
    }
  }
}
