// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BuiltinKinds
import BuiltinStores
import Conversations
import EmbeddedStorage
import Foundation
import Logging
import RemoteSources
import SQLiteFiles
import SQLiteSessionJournal
import SQLiteTodoDatabase
import ServerCore
import Sessions
import StateMachines
import StatewireProtocol
import Transports

/// The service as a process: what it is started with, and its life from the first to the last
/// connection.
struct Service {
  var listeners: [ServerAddress] = []
  var stdio = true
  /// What browsers are served beside the WebSocket.
  var site = WebSite()
  /// The folder of the database; nil: the user's state folder.
  var dataDir: String?
  /// What the sessions and lists in a folder that was asked for outlive.
  var durability = Durability.process
  var logLevel = Logger.Level.notice
  /// The file of the tokens; nil: everybody is served.
  var tokenFile: String?
  /// What TLS begins with; nil: TCP is as it is.
  var certificateFiles: SecurityOptions.CertificateFiles?
  var limits = ServerLimits()
  var sessionLimits = SessionLimits()
  var textLimits = TextLimits()
  var todoLimits = TodoLimits()
  /// Where the balance comes from; nil: the ledger.
  var balanceURL: HTTPAddress?
  /// Where the people are that read the balance's texts.
  var zone = TimeZoneRule.utc
  /// What loaders may load.
  var sources: [SourceArgument] = []
  /// The folder of the sources that are files.
  var sourceFolder = "."
  var maximumSourceBytes = HTTPSource.maximumBytes
  /// Files with URLs that other users may read or change.
  var exposedFiles: [String] = []
  /// Whether frontends move the clock and inject faults.
  var isTest = false

  /// Serves until a signal, or the end of standard input, ends it.
  ///
  /// - Parameter loop: That of the main thread, which hears of signals and serves standard input and
  ///   output if nothing else is served.
  /// - Throws: `StartupError` or `StorageError`, which say what is wrong in one sentence; `ExitCode` where what was
  ///   wrong has been logged.
  func run(on loop: PollLoop) async throws {
    let level = logLevel
    LoggingSystem.bootstrap { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return PrintableLogHandler(handler)
    }
    let logger = Logger(label: "statewire")

    // Before anybody can know that the service is there: one that nobody waits for would end it.
    let canBeReloaded = tokenFile != nil || certificateFiles != nil
    if canBeReloaded { signal(SIGHUP, SIG_IGN) }
    let parts = try await open(logger, loop)
    let ending = OneTimeEvent()
    // The end of a terminal ends it as well, but not what was told to outlive that (`nohup`).
    let hearsHangup = canBeReloaded || !Self.isIgnored(SIGHUP)
    do {
      try loop.watch(signals: [SIGTERM, SIGINT] + (hearsHangup ? [SIGHUP] : [])) { number in
        if number == SIGHUP, canBeReloaded {
          parts.secrets.reload(parts.server)
        } else {
          ending.happen()
        }
      }
    } catch {
      await parts.close()
      throw error
    }
    // Whoever has read this may end it in the right way at once.
    for address in parts.server.addresses { logger.notice("listening on \(address)") }
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await parts.server.untilEnded()
        ending.happen()
      }
      // Elsewhere, since what looks at files keeps its thread waiting.
      group.addTask(executorPreference: globalConcurrentExecutor) { await parts.database.run() }
      await ending.wait()
      await parts.server.stop()
      group.cancelAll()
    }
    await parts.close()
    if parts.hasFailed.isRaised { throw ExitCode.failure }
  }

  /// Whether whoever has started this process wants it to know nothing of a signal.
  static func isIgnored(_ number: CInt) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// What the service is made of while it runs.
  struct Parts {
    let database: EmbeddedDatabase
    /// True if something that was written to standard output is lost, or the client has sent `exit`
    /// without `shutdown`.
    let hasFailed: OneTimeFlag
    let client: RemoteClient
    let server: Server
    let secrets: Secrets
    /// A folder that goes with the service.
    let folder: TemporaryFolder?
    /// The folder that was asked for is this process's alone.
    let lock: FolderLock?

    /// Ends all of it, from the last to the first.
    func close() async {
      await server.stop()
      await client.shutdown()
      await database.close()
      withExtendedLifetime(lock) { folder?.remove() }
    }
  }

  /// Begins all that the service is made of.
  func open(_ logger: Logger, _ loop: PollLoop? = nil) async throws -> Parts {
    let plan = try descriptorPlan(logger)
    var limits = limits
    limits.connections = plan.connections
    limits.refusedConnections = plan.refusedConnections
    let client = RemoteClient(connectionsPerHost: plan.connectionsPerHost) { failure in
      logger.warning("\(failure)")
    }
    // Before anything is made, so that a mistake in them leaves nothing behind.
    let sources = try SourceArgument.sources(
      sources, folder: sourceFolder, client: client, maximumBytes: maximumSourceBytes,
      openFiles: plan.openFiles)
    for path in exposedFiles {
      logger.warning("other users may read or change the URL in \(path)")
    }
    let secrets = try Secrets(tokenFile: tokenFile, certificateFiles, logger)
    let lock = try dataDir.map { try FolderLock(folder: $0) }
    let folder = isTest && dataDir == nil ? try TemporaryFolder() : nil
    let testing = isTest ? OutsideWork() : nil
    let hasFailed = OneTimeFlag()
    let database = EmbeddedDatabase(
      folder: try dataDir ?? folder.map { $0.path + "/data" } ?? DataFolder.standard(),
      durability: durability,
      calendar: isTest ? ManualClock(start: TestMode.start) : SystemClock(),
      todoLimits: todoLimits,
      makeID: isTest ? TestData.ids() : TodoDatabase.randomID,
      busy: testing?.begin
    ) { failure in logger.error("\(failure)") }
    do {
      // A folder that was asked for must be usable; the default one is looked at on first use.
      if dataDir != nil { try await database.open() }
      if isTest { try await TestData.fill(database.ledger) }
      let journal = try openJournal()
      let server = try await Server.start(
        kinds: StoreKind.builtin(
          lists: database.todoLists,
          balance: balanceURL.map { HTTPBalanceService($0, client: client) } ?? database.ledger,
          zone: zone, sources: sources, limits: textLimits, todoLimits: todoLimits),
        settings: ServerSettings(
          limits: limits, logger: logger,
          program: Initialize.Program(name: "statewire", version: Statewire.version),
          credentials: secrets.credentials),
        sessionLimits: sessionLimits, listeners: listeners, certificate: secrets.certificate,
        site: site, stdio: stdio, on: loop, observers: [LoggingObserver(logger)], journal: journal,
        journalFailed: RepeatedFailures(
          logger, "sessions cannot be persisted, and their clients are disconnected: "
        ).log, storeFailed: RepeatedFailures(logger).log,
        outputFailed: { reason in
          logger.error(
            "standard output takes no more, and what was to be written is lost: \(reason)")
          hasFailed.raise()
        }, exitedEarly: hasFailed.raise, testing: testing)
      return Parts(
        database: database, hasFailed: hasFailed, client: client, server: server,
        secrets: secrets, folder: folder,
        lock: lock)
    } catch {
      await database.close()
      folder?.remove()
      throw error
    }
  }

  /// Divides the descriptors that the process may have, as many as the system allows.
  /// - Throws: `StartupError` where they are too few, or the threads that libraries start.
  private func descriptorPlan(_ logger: Logger) throws(StartupError) -> DescriptorPlan {
    let hosts = sources.count { $0.isRemote } + (balanceURL == nil ? 0 : 1)
    let needs = DescriptorPlan.Needs(
      listeners: listeners.count, stdio: stdio, hosts: hosts, files: sources.count { !$0.isRemote })
    let limit = SystemResources.raiseDescriptorLimit()
    // Where there are many, it does not matter how many are open.
    let open = limit < limits.connections + 8192 ? SystemResources.openDescriptors(below: limit) : 0
    let plan = try DescriptorPlan(needs, limit: limit, open: open, wanted: limits)
    try SystemResources.require(threads: needs.threads)
    if !listeners.isEmpty, plan.connections < limits.connections {
      logger.warning(
        """
        at most \(plan.connections) connections are served at the same time, since the process may have \(limit) \
        files open: raise the limit (ulimit -n) or lower --maximum-connections
        """)
    }
    return plan
  }

  /// Where sessions are written down; nil where the folder is not this process's alone.
  private func openJournal() throws -> sending SQLiteJournal? {
    guard let dataDir else { return nil }
    return try SQLiteJournal(folder: dataDir, durability: durability, countsCrashes: true)
  }
}
