// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BuiltinStores
internal import Logging
internal import ProcessStores
internal import RemoteSources
internal import SQLiteFiles
internal import Sessions
internal import Transports

extension ServeOptions {
  /// Checks the options that can be checked without reading a file: a file may be a pipe, which can
  /// be read only once.
  ///
  /// - Throws: `ValidationError`, which does not quote a URL because it may contain a password.
  func validate() throws(ValidationError) {
    if let balanceURL, URLFiles.path(in: balanceURL, hasName: false) == nil {
      _ = try Self.balanceAddress(balanceURL)
    }
    _ = try Self.sources(sources.filter { URLFiles.path(in: $0, hasName: true) == nil })
  }

  /// Returns the configuration of a program's server.
  ///
  /// - Throws: `StartupError` or `ValidationError`; one sentence, or a line for each fault if there are
  ///   several.
  func configuration<Program: ServerProgram>(
    of program: Program.Type, logger: Logger
  ) throws -> ServerConfiguration {
    let inherited = try InheritedSockets()
    var options = self
    options.add(inherited)
    var faults: [any Error] = []
    var configuration = options.configuration(of: program, logger: logger, &faults)
    if faults.count > 1 {
      throw StartupError(faults.map(Self.message(of:)).joined(separator: "\n"))
    }
    if let fault = faults.first { throw fault }
    configuration.inherited = inherited.descriptors
    return configuration
  }

  /// Adds sockets of a service manager. An address that is also an option is one listener.
  private mutating func add(_ inherited: InheritedSockets) {
    tcp += inherited.tcp.filter { !tcp.contains($0) }
    web += inherited.web.filter { !web.contains($0) }
    unix += inherited.unix.filter { !unix.contains($0) }
  }

  /// Returns the configuration of a program's server, without the parts that have a fault, and adds all
  /// faults.
  func configuration<Program: ServerProgram>(
    of program: Program.Type, logger: Logger, _ faults: inout [any Error]
  ) -> ServerConfiguration {
    func attempt<Value>(_ standard: Value, _ body: () throws -> Value) -> Value {
      do { return try body() } catch {
        faults.append(error)
        return standard
      }
    }
    let isSecured = tlsCertificate != nil || tlsKey != nil
    var configuration = ServerConfiguration(kinds: Program.kinds, logger: logger)
    configuration.name = Program.name
    configuration.version = Program.version.isEmpty ? nil : Program.version
    configuration.certificate = attempt(nil) { try certificateFiles() }
    attempt(()) { try checkExposure(isSecured: isSecured) }
    attempt(()) { try checkDurability() }
    attempt(()) { try checkPage() }
    configuration.listeners =
      tcp.map { $0.tcp(isSecured: isSecured) } + unix.map { .unix(path: $0) }
      + web.map { $0.web(isSecured: isSecured) }
    if !web.isEmpty {
      configuration.site = site(of: Program.self)
    }
    configuration.stdio = stdio
    configuration.shards = shards
    configuration.admin = attempt(nil) { try adminAddress(isSecured: isSecured) }
    configuration.adminTokenFile = adminTokenFile
    configuration.tracing = attempt(nil) { try tracing(logger) }
    configuration.dataFolder = dataFolder
    configuration.durability = durability ?? .process
    configuration.cluster = attempt(nil) { try cluster(configuration.listeners, logger) }
    configuration.tokenFile = tokenFile
    configuration.limits = limits
    configuration.sessionLimits = sessions
    configuration.documentLimits = Program.documentLimits
    configuration.isTest = isTest
    configuration.programs = attempt([]) { try programKinds() }
    if Program.kinds.hasBuiltin {
      configuration.builtin = attempt(BuiltinConfiguration()) { try builtin(logger) }
    }
    return configuration
  }

  /// Returns the sentence of an error.
  static func message(of error: any Error) -> String {
    (error as? ValidationError)?.message ?? "\(error)"
  }

  private func tracing(_ logger: Logger) throws -> TracingConfiguration? {
    guard let traceEndpoint else {
      if traceRatio == nil { return nil }
      throw StartupError("--trace-ratio requires --trace-endpoint")
    }
    let files = URLFiles(credentials: credentials, logger: logger)
    let endpoint = try files.resolve(traceEndpoint, hasName: false)
    do throws(SourceError) {
      var tracing = TracingConfiguration(.collector(try HTTPAddress(endpoint)))
      if let traceRatio { tracing.ratio = traceRatio }
      return tracing
    } catch {
      throw StartupError("--trace-endpoint: \(error)")
    }
  }

  private func checkDurability() throws(StartupError) {
    if durability != nil, dataFolder == nil {
      throw StartupError("--durability requires --data-dir")
    }
  }

  private func checkPage() throws(StartupError) {
    if web.isEmpty, webRoot != nil || !webOrigins.isEmpty || contentSecurityPolicy != nil {
      throw StartupError("--web-root, --web-origin and --content-security-policy require --web")
    }
  }

  /// Returns the address of the admin interface; nil without one.
  private func adminAddress(isSecured: Bool) throws(StartupError) -> (host: String, port: Int)? {
    guard let admin else {
      if adminTokenFile == nil { return nil }
      throw StartupError("--admin-token-file requires --admin")
    }
    guard let address = ListenerAddress(admin) else {
      throw StartupError("--admin must be HOST:PORT, for example 127.0.0.1:7229")
    }
    guard address.isLoopback || adminTokenFile != nil && isSecured else {
      throw StartupError(
        "--admin \(admin) would be reachable from other machines; use 127.0.0.1 or [::1], or pass "
          + "--admin-token-file, --tls-cert and --tls-key")
    }
    return (address.host, address.port)
  }

  /// The page of a program, changed by the options.
  private func site<Program: ServerProgram>(of program: Program.Type) -> WebSite {
    var site = Program.site
    if let webRoot { site.folder = webRoot }
    if let contentSecurityPolicy { site.contentSecurityPolicy = contentSecurityPolicy }
    site.origins += webOrigins
    if isTest { site.hasEcho = true }
    return site
  }

  /// Returns the store kinds whose machines are programs.
  func programKinds() throws(ValidationError) -> [ProgramKind] {
    guard !watchesStores || !stores.isEmpty else {
      throw ValidationError("--watch requires --store")
    }
    var kinds: [ProgramKind] = []
    for text in stores {
      guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
        throw ValidationError("--store must be NAME=COMMAND")
      }
      let name = String(text[..<equals])
      guard name.utf8.count <= SessionLimits().storeNameBytes else {
        throw ValidationError("--store: the name has too many bytes")
      }
      guard !kinds.contains(where: { $0.name == name }) else {
        throw ValidationError("--store: two kinds have the name '\(name)'")
      }
      do throws(ProgramCommand.ParsingError) {
        var command = try ProgramCommand(parsing: String(text[equals...].dropFirst()))
        command.isWatched = watchesStores
        command.unwatched = dataFolder.map { [$0] } ?? []
        var kind = ProgramKind(name, command)
        programs[name]?.apply(to: &kind)
        kinds.append(kind)
      } catch {
        throw ValidationError("--store \(name): \(error)")
      }
    }
    try checkSharing(kinds)
    return kinds
  }

  /// Checks that one shard of one node serves shared stores.
  private func checkSharing(_ kinds: [ProgramKind]) throws(ValidationError) {
    let shared = kinds.first { if case .shared = $0.scope { true } else { false } }
    guard let shared else { return }
    for (option, isGiven) in [
      ("--shards", shards ?? 1 > 1), ("--database", database != nil || databaseFile != nil),
    ] where isGiven {
      throw ValidationError(
        "stores.\(shared.name).shared and \(option) cannot be used together: shared stores are in one place"
      )
    }
  }

  private func builtin(_ logger: Logger) throws -> BuiltinConfiguration {
    var builtin = BuiltinConfiguration()
    builtin.textLimits = texts
    builtin.todoLimits = todos
    builtin.zone = zone ?? .utc
    builtin.sourceFolder = sourceFolder ?? "."
    builtin.maximumSourceBytes = sourceBytes
    builtin.maximumCacheBytes = cacheBytes
    let files = URLFiles(credentials: credentials, logger: logger)
    builtin.balanceURL = try Self.balanceAddress(
      balanceURL.map { url throws(StartupError) in try files.resolve(url, hasName: false) })
    builtin.sources = try Self.sources(
      sources.map { text throws(StartupError) in try files.resolve(text, hasName: true) })
    return builtin
  }

  private static func balanceAddress(_ url: String?) throws(ValidationError) -> HTTPAddress? {
    do throws(SourceError) {
      return try url.map { url throws(SourceError) in try HTTPAddress(url) }
    } catch {
      throw ValidationError("--balance-url: \(error.message)")
    }
  }

  private static func sources(_ texts: [String]) throws(ValidationError) -> [SourceArgument] {
    do throws(SourceError) {
      return try SourceArgument.all(texts)
    } catch {
      throw ValidationError("--source: \(error.message)")
    }
  }
}

// MARK: - Security

extension ServeOptions {
  /// Returns the files of the certificate; nil without TLS.
  ///
  /// - Throws: `StartupError` if one of the options is missing.
  private func certificateFiles() throws(StartupError) -> CertificateFiles? {
    switch (tlsCertificate, tlsKey) {
    case (let certificate?, let key?):
      return CertificateFiles(
        certificate: certificate, key: key, clientAuthority: tlsClientAuthority)
    case (nil, nil):
      if tlsClientAuthority != nil {
        throw StartupError("--tls-client-ca requires --tls-cert and --tls-key")
      }
      return nil
    case (nil, _): throw StartupError("--tls-key requires --tls-cert")
    case (_, nil): throw StartupError("--tls-cert requires --tls-key")
    }
  }

  /// Refuses listeners that other machines can reach without a token or encryption, unless
  /// `--insecure` is given.
  ///
  /// - Throws: `StartupError` that names the missing options.
  private func checkExposure(isSecured: Bool) throws(StartupError) {
    let listeners = tcp + web
    if isSecured, listeners.isEmpty, adminTokenFile == nil {
      throw StartupError("--tls-cert requires --tcp, --web or --admin-token-file")
    }
    guard !isInsecure, let open = listeners.first(where: { !$0.isLoopback }) else { return }
    var missing: [(what: String, options: String)] = []
    if tokenFile == nil { missing.append(("without a token", "--token-file")) }
    if !isSecured { missing.append(("without encryption", "--tls-cert and --tls-key")) }
    guard !missing.isEmpty else { return }
    throw StartupError(
      "\(open.tcp(isSecured: false)) is reachable from other machines "
        + missing.map(\.what).joined(separator: " and ") + "; pass "
        + missing.map(\.options).joined(separator: ", ")
        + ", or listen on 127.0.0.1 or [::1], or pass --insecure")
  }
}
