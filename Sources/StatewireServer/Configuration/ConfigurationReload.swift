// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import StateMachines
internal import StatewireJSON

/// The reload of the configuration file of a running server.
final class ConfigurationReload: Sendable {
  private let running: Lock<Running>
  private let log: LogSettings
  private let logger: Logger
  private let read: @Sendable () -> EffectiveOptions

  /// The values with which the server runs: those of its start, and applied changes.
  private struct Running {
    var texts: [String: [String]]
    var files: Secrets.Files
  }

  /// Creates the reload.
  ///
  /// - Parameters:
  ///   - start: The options at the start.
  ///   - log: The settings of the log, which a reload changes.
  ///   - logger: The log.
  ///   - read: Reads the options again.
  init(
    _ start: EffectiveOptions, _ log: LogSettings, _ logger: Logger,
    read: @escaping @Sendable () -> EffectiveOptions
  ) {
    running = Lock(Running(texts: start.texts, files: start.options.secretFiles))
    (self.log, self.logger, self.read) = (log, logger, read)
  }

  /// Reads the options again, applies those that can change, and logs the names of all that have changed.
  ///
  /// - Returns: The paths of tokens and certificates.
  @Sendable
  func reload() -> Secrets.Files {
    let new = read()
    guard new.faults.isEmpty else {
      let faults = new.faults.joined(separator: "; ")
      logger.error(
        "the configuration was not reloaded, and the previous one stays in use: \(faults)")
      return running.withLock { $0.files }
    }
    for warning in new.warnings { logger.warning("\(warning)") }
    let files = new.options.secretFiles
    let (applied, others) = running.withLock { running in
      let changed = Set(running.texts.keys).union(new.texts.keys).sorted().filter {
        running.texts[$0] != new.texts[$0]
      }
      let applied = changed.filter { key in
        guard new.reloadedKeys.contains(key) else { return false }
        // Tokens and TLS can change, but not begin or end.
        if key == "token-file" { return running.files.tokens != nil && files.tokens != nil }
        if key.hasPrefix("tls-") {
          return running.files.certificate != nil && files.certificate != nil
        }
        return true
      }
      for key in applied {
        running.texts[key] = new.texts[key]
        if key == "token-file" { running.files.tokens = files.tokens }
        if key.hasPrefix("tls-") { running.files.certificate = files.certificate }
      }
      return (applied, changed.filter { !applied.contains($0) })
    }
    log.change(level: new.options.logLevel, format: new.options.logFormat)
    logger.notice(
      "reloaded the configuration; changed: \(applied.isEmpty ? "nothing" : Self.names(applied))")
    if !others.isEmpty {
      logger.warning(
        "these changes of the configuration need a restart of the server: \(Self.names(others))")
    }
    return running.withLock { $0.files }
  }

  private static func names(_ keys: [String]) -> String {
    keys.joined(separator: ", ").printable
  }
}

extension ServeOptions {
  /// The paths of tokens and certificates.
  var secretFiles: Secrets.Files {
    var files = Secrets.Files(tokens: tokenFile)
    if let certificate = tlsCertificate, let key = tlsKey {
      files.certificate = CertificateFiles(
        certificate: certificate, key: key, clientAuthority: tlsClientAuthority)
    }
    return files
  }
}
