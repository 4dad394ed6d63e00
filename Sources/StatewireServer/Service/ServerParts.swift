// SPDX-License-Identifier: Apache-2.0

internal import Admin
internal import BuiltinKinds
internal import BuiltinStores
internal import Documents
internal import EmbeddedStorage
internal import Logging
internal import PostgresStorage
internal import RemoteSources
internal import SQLiteFiles
internal import SQLiteSessionJournal
internal import SQLiteTodoDatabase
internal import ServerCore
internal import Sessions
internal import StatewirePage
internal import StatewireProtocol
internal import StoredTodoLists
internal import TraceExport
internal import Transports

/// The parts of a running server.
struct ServerParts: Sendable {
  /// The file of the built-in kinds; nil without them, and among other nodes.
  let database: EmbeddedDatabase?
  /// The storage of the program's own kinds; nil without them.
  let documents: ServerDocuments?
  /// Raised after a failure that makes the process end with an error; see `ServerFailure`.
  let hasFailed: AtomicFlag
  /// The HTTP client of the built-in kinds; nil without them.
  let client: RemoteClient?
  let server: Server
  let secrets: Secrets
  /// A temporary data folder that is removed at the end; nil if there is none.
  let folder: TemporaryFolder?
  /// The lock that reserves the configured data folder for this process.
  let lock: FolderLock?
  /// The place among other nodes; nil if this is the only one.
  let member: ClusterMember?
  /// The programs of store kinds.
  let programs: ProgramKinds
  /// The admin interface; nil without one.
  let admin: AdminInterface?
  /// The parts that trace inputs; nil if inputs are not traced.
  let traces: TraceParts?
  let signals: ServerSignals

  /// Ends all parts, in reverse order of their start.
  func close() async {
    await stopServing()
    await traces?.end()
    member?.close()
    await admin?.stop()
    await client?.shutdown()
    await database?.close()
    await documents?.close()
    await programs.close()
    withExtendedLifetime(lock) { folder?.remove() }
    signals.end()
  }

  /// Ends the server after the clients have got the responses that come in time, also those of programs.
  func stopServing() async {
    programs.stopOpening()
    await server.stop(served: programs.stopReplying)
  }

  /// Starts all parts.
  ///
  /// - Parameters:
  ///   - configuration: The configuration of the server.
  ///   - loop: The loop of the calling thread; nil: the server uses its own threads.
  ///   - ending: Signalled when the server is to end, which may be before it serves.
  /// - Returns: Nil if the server is to end before it serves; everything is closed again then, as after
  ///   an error.
  /// - Throws: `StartupError`, `StorageError` or `SourceError`; everything is closed again then.
  static func open(
    _ configuration: ServerConfiguration, on loop: PollLoop? = nil, ending: Latch = Latch()
  ) async throws -> ServerParts? {
    try configuration.checkLimits()
    let plan = try DescriptorPlan(for: configuration)
    let (logger, isTest) = (configuration.logger, configuration.isTest)
    var limits = configuration.limits
    limits.connections = plan.connections
    limits.refusedConnections = plan.refusedConnections
    let secrets = try Secrets(configuration)
    let testing = isTest ? OutsideWork() : nil
    let hasFailed = AtomicFlag()
    let status = ServerStatus(
      measuresTurns: configuration.admin != nil || configuration.metrics != nil)
    let incidents = JournalIncidents(status, logger)
    let admin = try await adminInterface(of: configuration, secrets.adminAccess, status, ending)
    var member: ClusterMember?
    let signals: ServerSignals
    do {
      // Blocks while it waits for the database. Until then a signal ends the process immediately.
      member = try configuration.cluster.map { cluster throws(StartupError) in
        try ClusterMember(cluster, configuration, status)
      }
      // Before there are folders, files of sockets or programs, which must not be left.
      signals = try ServerSignals(configuration, on: loop, ending: ending)
    } catch {
      await member?.leave()
      await admin?.stop()
      throw error
    }
    var (remote, folder, database) = (Remote?.none, TemporaryFolder?.none, EmbeddedDatabase?.none)
    let documents =
      configuration.kinds.hasOwn
      ? ServerDocuments(configuration, testing, shared: member?.storage.documents)
      : nil
    let programs = ProgramKinds(configuration.programs, logger, testing)
    let traces = TraceParts(configuration)
    do {
      // Before the folder is created, so that a mistake in the sources leaves no folder.
      if configuration.kinds.hasBuiltin { remote = try Remote(configuration, plan) }
      let lock = try configuration.dataFolder.map { try FolderLock(folder: $0) }
      if isTest, configuration.dataFolder == nil { folder = try TemporaryFolder() }
      let dataFolder = { @Sendable [folder] in
        try configuration.dataFolder ?? folder.map { $0.path + "/data" }
          ?? DataFolder.standard(of: configuration.name)
      }
      if configuration.kinds.hasBuiltin, member == nil {
        let builtin = try Self.database(of: configuration, folder: dataFolder(), testing)
        database = builtin
        // An unusable database must be detected before the server listens.
        if configuration.dataFolder != nil, !configuration.listeners.isEmpty {
          try await builtin.open()
        }
      }
      let context = KindContext(
        logger: logger, isTest: isTest,
        documents: { documents?.storage ?? MemoryDocumentStorage() }, folder: dataFolder)
      let own = try configuration.kinds.all(context) {
        guard let remote else { return [] }
        if let shared = member?.storage {
          return remote.builtin(configuration.builtin, shared.todoLists, shared.ledger)
        }
        guard let database else { return [] }
        return remote.builtin(configuration.builtin, database.todoLists, database.ledger)
      }
      await programs.start(until: ending)
      let kinds = programs.replacing(own)
      if !configuration.listeners.isEmpty { try await documents?.open() }
      guard !ending.isSignalled else { throw EndedEarly() }
      let server = try await Server.start(
        kinds: kinds,
        settings: ServerSettings(
          limits: limits, logger: logger,
          program: Initialize.Program(name: configuration.name, version: configuration.version),
          credentials: secrets.credentials, nodes: member?.membership.settings,
          tracer: traces?.tracer),
        sessionLimits: configuration.sessionLimits, listeners: configuration.listeners,
        inherited: configuration.inherited, certificate: secrets.certificate,
        site: site(of: configuration),
        stdio: configuration.servesStdio, shards: configuration.shardCount(kinds), on: loop,
        status: status, nodes: member?.membership,
        observers: [LoggingObserver(logger)],
        journal: try member?.journal ?? journal(of: configuration),
        journalFailed: incidents.failed, journalRecovered: incidents.recovered,
        storeFailed: StoreFailureLog(logger).log,
        outputFailed: { reason in
          logger.error(
            "cannot write to standard output, and unwritten output is lost: \(reason)")
          hasFailed.raise()
        }, exitedEarly: hasFailed.raise, testing: testing)
      member?.serve(server)
      return ServerParts(
        database: database, documents: documents, hasFailed: hasFailed, client: remote?.client,
        server: server, secrets: secrets, folder: folder, lock: lock, member: member,
        programs: programs, admin: admin, traces: traces, signals: signals)
    } catch {
      await member?.leave()
      await programs.close()
      await traces?.end()
      await admin?.stop()
      await remote?.client.shutdown()
      await database?.close()
      await documents?.close()
      folder?.remove()
      signals.end()
      if error is EndedEarly { return nil }
      throw error
    }
  }

  /// The server is to end before it serves.
  private struct EndedEarly: Error {}

  /// Starts the admin interface before everything that takes long; nil without one.
  private static func adminInterface(
    of configuration: ServerConfiguration, _ access: AdminAccess?, _ status: ServerStatus,
    _ ending: Latch
  ) async throws(StartupError) -> AdminInterface? {
    guard let (host, port) = configuration.admin else { return nil }
    // Tokens keep the users of a machine apart; a console without a token would not.
    let hasConsole = configuration.tokenFile == nil || access != nil
    let admin = try await AdminInterface.start(
      host: host, port: port, status, access: access,
      console: hasConsole ? PageFiles.console : [:],
      operations: ConsoleOperations(logger: configuration.logger) { ending.signal() })
    let scheme = access?.certificate == nil ? "http" : "https"
    configuration.logger.notice("admin interface at \(scheme)://\(admin.address)")
    return admin
  }

  /// Returns the files of the site and the modules of the JavaScript client, which the page loads
  /// from `/client/`.
  private static func site(of configuration: ServerConfiguration) -> WebSite {
    var site = configuration.site
    let servesFiles = configuration.listeners.contains { address in
      switch address {
      case .web, .secureWeb: true
      case .tcp, .tls, .unix: false
      }
    }
    if servesFiles { site.files.merge(PageFiles.client) { own, _ in own } }
    return site
  }

  /// The HTTP client and the sources of the built-in kinds.
  private struct Remote {
    let client: RemoteClient
    let sources: LoadingSources

    init(_ configuration: ServerConfiguration, _ plan: DescriptorPlan) throws {
      let logger = configuration.logger
      client = RemoteClient(connectionsPerHost: plan.connectionsPerHost) { failure in
        logger.warning("\(failure)")
      }
      let builtin = configuration.builtin
      sources = try SourceArgument.sources(
        builtin.sources, folder: builtin.sourceFolder, client: client,
        maximumBytes: builtin.maximumSourceBytes, openFiles: plan.openFiles)
    }

    func builtin(
      _ builtin: BuiltinConfiguration, _ lists: any TodoLists, _ ledger: any BalanceService
    ) -> [StoreKind] {
      StoreKind.builtin(
        lists: lists,
        balance: builtin.balanceURL.map { HTTPBalanceService($0, client: client) } ?? ledger,
        zone: builtin.zone, sources: sources, limits: builtin.textLimits,
        todoLimits: builtin.todoLimits, cacheBytes: builtin.maximumCacheBytes)
    }
  }

  private static func database(
    of configuration: ServerConfiguration, folder: String, _ testing: OutsideWork?
  ) -> EmbeddedDatabase {
    let (logger, isTest) = (configuration.logger, configuration.isTest)
    return EmbeddedDatabase(
      folder: folder,
      durability: configuration.durability,
      calendar: isTest ? ManualClock(start: TestMode.start) : SystemClock(),
      todoLimits: configuration.builtin.todoLimits,
      firstEntry: isTest ? TestData.firstEntry : nil,
      makeID: isTest ? TestData.ids() : RandomUUID.text,
      busy: testing?.begin
    ) { failure in logger.error("\(failure)") }
  }

  /// Opens the journal of the sessions; nil without a configured data folder, because the default
  /// folder is not locked.
  private static func journal(
    of configuration: ServerConfiguration
  ) throws -> sending (any SessionJournal)? {
    guard let folder = configuration.dataFolder else { return nil }
    return try SQLiteJournal(
      folder: folder, durability: configuration.durability, countsCrashes: true)
  }
}
