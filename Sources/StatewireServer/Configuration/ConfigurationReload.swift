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
    /// The names of the kinds that have a program.
    let programs: [String]

    /// The keys of the program of a kind that can change; `processes` and `shared` cannot.
    static func keys(of name: String) -> [String] {
      ProgramSetting.all.filter(\.isReloaded).map { "stores.\(name).\($0.key)" }
    }

    /// Takes the changes that can be applied; returns their keys and those of the others.
    mutating func take(_ new: EffectiveOptions) -> (applied: [String], others: [String]) {
      let (files, texts) = (new.options.secretFiles, new.texts)
      let kept = programs.filter { texts["stores.\($0).\(ProgramSetting.command)"] != nil }
      let reloaded = new.reloadedKeys.union(kept.flatMap(Self.keys(of:)))
      let changed = Set(self.texts.keys).union(texts.keys).sorted().filter {
        self.texts[$0] != texts[$0]
      }
      let applied = changed.filter { key in
        guard reloaded.contains(key) else { return false }
        // Tokens and TLS can change, but not begin or end.
        if key == "token-file" { return self.files.tokens != nil && files.tokens != nil }
        if key == "admin-token-file" {
          return self.files.adminTokens != nil && files.adminTokens != nil
        }
        if key.hasPrefix("tls-") {
          return self.files.certificate != nil && files.certificate != nil
        }
        return true
      }
      for key in applied {
        self.texts[key] = texts[key]
        if key == "token-file" { self.files.tokens = files.tokens }
        if key == "admin-token-file" { self.files.adminTokens = files.adminTokens }
        if key.hasPrefix("tls-") { self.files.certificate = files.certificate }
      }
      return (applied, changed.filter { !applied.contains($0) })
    }
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
    running = Lock(
      Running(
        texts: start.texts, files: start.options.secretFiles,
        programs: start.options.stores.map { String(OptionSetting.name(in: $0)) }))
    (self.log, self.logger, self.read) = (log, logger, read)
  }

  /// The changes that a server applies after a reload.
  struct Changes: Sendable {
    /// The paths of tokens and certificates.
    var files: Secrets.Files
    /// The kinds with another program, or with other conditions for it.
    var programs: [ProgramKind] = []
  }

  /// Reads the options again, and logs the names of all that have changed: those that are applied, and those
  /// that need a restart.
  @Sendable
  func reload() -> Changes {
    let new = read()
    var faults = new.faults
    var programs: [ProgramKind] = []
    do { programs = try new.options.programKinds() } catch {
      faults.append(ServeOptions.message(of: error))
    }
    guard faults.isEmpty else {
      logger.error(
        "the configuration was not reloaded, and the previous one stays in use: \(faults.joined(separator: "; "))"
      )
      return Changes(files: running.withLock { $0.files })
    }
    for warning in new.warnings { logger.warning("\(warning)") }
    let (files, applied, others) = running.withLock { running in
      let (applied, others) = running.take(new)
      return (running.files, applied, others)
    }
    log.change(level: new.options.logLevel, format: new.options.logFormat)
    logger.notice(
      "reloaded the configuration; changed: \(applied.isEmpty ? "nothing" : Self.names(applied))")
    if !others.isEmpty {
      logger.warning(
        "these changes of the configuration need a restart of the server: \(Self.names(others))")
    }
    let changed = programs.filter { kind in
      applied.contains { $0 == "watch" || Running.keys(of: kind.name).contains($0) }
    }
    return Changes(files: files, programs: changed)
  }

  private static func names(_ keys: [String]) -> String {
    keys.joined(separator: ", ").printable
  }
}

extension ServeOptions {
  /// The paths of tokens and certificates.
  var secretFiles: Secrets.Files {
    var files = Secrets.Files(tokens: tokenFile, adminTokens: adminTokenFile)
    if let certificate = tlsCertificate, let key = tlsKey {
      files.certificate = CertificateFiles(
        certificate: certificate, key: key, clientAuthority: tlsClientAuthority)
    }
    return files
  }
}
