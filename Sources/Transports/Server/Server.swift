// SPDX-License-Identifier: Apache-2.0

public import ServerCore
public import TransportSupport

/// A running server: threads with a shard each, and all listeners.
///
/// ```swift
/// let server = try await Server.start(
///   kinds: [StoreKind("stopwatch") { Stopwatch() }],
///   listeners: [.tcp(host: "127.0.0.1", port: 7227)])
/// await server.untilEnded()
/// ```
public final class Server: Sendable {
  private let backend: any ServerBackend
  private let status: ServerStatus

  private init(
    _ backend: any ServerBackend, _ status: ServerStatus, _ threads: [ShardThread],
    of shards: [Shard], _ settings: ServerSettings, _ journal: JournalWriter?
  ) {
    (self.backend, self.status) = (backend, status)
    status.started(
      threads,
      ServerMetrics(
        settings: settings, group: shards[0].group, shards: shards.map(\.metrics),
        connections: backend.metrics, journal: journal),
      shards: shards)
  }

  /// The current metrics of the server. It never waits for a shard, but reads files of the system.
  public var metrics: MetricsReading { status.metrics }

  /// The readiness of the server for new clients.
  public var readiness: Readiness { status.readiness }

  /// The number of processors that the process may use: those of the machine, without those that
  /// an affinity mask or a control group withholds from it.
  public static var processors: Int { SystemResources.processors }

  /// The largest number of shards of a server.
  package static let maximumShards = 256

  /// Checks a number of shards.
  ///
  /// - Throws: `StartupError` if it is out of range.
  package static func check(shards: Int) throws(StartupError) {
    guard (1...maximumShards).contains(shards) else {
      throw StartupError("shards is \(shards); the number must be from 1 to \(maximumShards)")
    }
  }

  /// The addresses that the server listens on, with the ports that the system has assigned.
  public var addresses: [ServerAddress] { backend.addresses }

  /// Starts a server with all its listeners.
  ///
  /// - Parameters:
  ///   - kinds: The kinds of stores that frontends can open.
  ///   - settings: The limits of connections, the log, and the program's name in `initialize`.
  ///   - sessionLimits: The limits of one session.
  ///   - listeners: The addresses to listen on. Port 0 makes the system assign a free one; see
  ///     `addresses`.
  ///   - inherited: The descriptors of listening sockets that another process has opened, by their
  ///     addresses. Those of `listeners` are used in place of new ones.
  ///   - certificate: The certificate for TLS; required if a listener uses TLS.
  ///   - site: The files that web listeners serve, and the origins that may open a WebSocket.
  ///   - stdio: True to serve standard input and output as well. A server without listeners ends
  ///     when its input ends or its parent process exits.
  ///   - shards: The number of shards: threads with an event loop and a part of the sessions. A
  ///     server without listeners, under test, or with a kind of shared stores has one.
  ///   - loop: The loop of a server without listeners; nil for one on a new thread.
  ///   - status: The status of the server, which exists before it.
  ///   - nodes: The place among other nodes that share the journal; nil if this is the only one.
  ///     It requires listeners, and no kind of shared stores.
  ///   - observers: Observers of all stores.
  ///   - journal: The journal of sessions that have a handle; nil if sessions are not persisted.
  ///   - journalFailed: Called with the error of each turn that could not be journaled.
  ///   - journalRecovered: Called when a shard has journaled everything again after that.
  ///   - storeFailed: Called with each new state of a store that cannot be encoded.
  ///   - outputFailed: Called with the reason, on any thread, if bytes of standard output are lost,
  ///     for example because it is a file and the disk is full. A reader that has closed its end is
  ///     not a failure.
  ///   - exitedEarly: Called on any thread, by a server without listeners, if the client sends
  ///     `exit` without `shutdown`, or if the server ends because the journal cannot be read. The
  ///     process should then exit with a status other than 0.
  ///   - testing: Given if tests control the clock and inject faults (see `test/advanceClock`): the
  ///     work outside of stores that they wait for.
  /// - Throws: `StartupError`; nothing is left running then.
  public static func start(
    kinds: [StoreKind], settings: ServerSettings = .init(), sessionLimits: SessionLimits = .init(),
    listeners: [ServerAddress], inherited: [ServerAddress: CInt] = [:],
    certificate: ServerCertificate? = nil,
    site: WebSite = .init(), stdio: Bool = false, shards: Int = 1,
    on loop: PollLoop? = nil, status: ServerStatus = .init(), nodes: NodeMembership? = nil,
    observers: [any StoreObserver] = [], journal: sending (any SessionJournal)? = nil,
    journalFailed: @escaping @Sendable (any Error) -> Void = { _ in },
    journalRecovered: @escaping @Sendable () -> Void = {},
    storeFailed: @escaping @Sendable (StoreFailure) -> Void = { _ in },
    outputFailed: @escaping @Sendable (String) -> Void = { _ in },
    exitedEarly: @escaping @Sendable () -> Void = {},
    testing: OutsideWork? = nil
  ) async throws -> Server {
    try check(shards: shards)
    if shards > 1 {
      try checkShards(kinds, isListening: !listeners.isEmpty, isTest: testing != nil)
    }
    if nodes != nil {
      try checkNodes(kinds, isListening: !listeners.isEmpty, isTest: testing != nil)
    }
    // Before any other thread starts, so that a failure has nothing to stop.
    let commits = journal != nil && testing == nil ? try JobThread() : nil
    let group = ShardGroup(count: shards, limits: sessionLimits)
    let commit = commits.map { commits in
      { @Sendable (job: @escaping @Sendable () -> Void) in commits.run(job) }
    }
    func shard(at index: Int, on thread: ShardThread, _ journal: JournalWriter?) -> Shard {
      Shard(
        executor: thread.executor, in: group, at: ShardPlace(index: index, count: shards),
        kinds: kinds, limits: sessionLimits, observers: observers, journal: journal,
        journalNotify: journal.map { _ in thread.execute }, ownership: nodes?.ownership,
        measuresTurns: status.measuresTurns,
        journalFailed: journalFailed, journalRecovered: journalRecovered,
        storeFailed: storeFailed)
    }
    func testShard(
      _ testing: OutsideWork, on thread: ShardThread, _ journal: sending (any SessionJournal)?
    ) -> Shard {
      Shard(
        testing: IdleTracker(
          outside: testing, checkThread: thread.check, execute: thread.execute), kinds: kinds,
        limits: sessionLimits, observers: observers, journal: journal,
        measuresTurns: status.measuresTurns, journalFailed: journalFailed, storeFailed: storeFailed)
    }
    if listeners.isEmpty, stdio {
      let thread = try StandardServer.Thread(loop)
      let (only, writer): (Shard, JournalWriter?)
      if let testing {
        (only, writer) = (testShard(testing, on: thread.shard, journal), nil)
      } else {
        writer = JournalWriter(journal, commit: commit)
        only = shard(at: 0, on: thread.shard, writer)
      }
      return Server(
        try await StandardServer.start(
          only, settings, on: thread, outputFailed: outputFailed, exitedEarly: exitedEarly),
        status, [thread.shard], of: [only], settings, writer)
    }
    let web = try WebRouter(site)
    let threads = try SocketServer.Threads(shards)
    var made: [Shard] = []
    var writer: JournalWriter?
    if let testing {
      made.append(testShard(testing, on: threads.shards[0], journal))
    } else {
      writer = JournalWriter(journal, commit: commit)
      for (index, thread) in threads.shards.enumerated() {
        made.append(shard(at: index, on: thread, writer))
      }
      group.setMembers(
        zip(made, threads.shards).map { ShardGroup.Member($0, execute: $1.execute) })
    }
    return Server(
      try await SocketServer.start(
        made, settings, on: threads, listeners, inherited, certificate, web, nodes, stdio: stdio,
        outputFailed: outputFailed), status, threads.shards, of: made, settings, writer)
  }

  /// Checks that a server can have several shards.
  ///
  /// - Throws: `StartupError` with the reason why it cannot.
  private static func checkShards(
    _ kinds: [StoreKind], isListening: Bool, isTest: Bool
  ) throws(StartupError) {
    if isTest { throw StartupError("a server under test (--test) has one shard; omit --shards") }
    guard isListening else {
      throw StartupError(
        "standard input and output are served by one shard; omit --shards, or listen on an address"
      )
    }
    if let shared = kinds.first(where: \.isShared) {
      throw StartupError(
        "sessions share stores of the kind \"\(shared.name)\", so one shard serves them; omit --shards"
      )
    }
  }

  /// Checks that a server can be one of several nodes.
  ///
  /// - Throws: `StartupError` with the reason why it cannot.
  private static func checkNodes(
    _ kinds: [StoreKind], isListening: Bool, isTest: Bool
  ) throws(StartupError) {
    if isTest { throw StartupError("a server under test is the only node") }
    guard isListening else {
      throw StartupError("a node among others requires a listener that the others reach")
    }
    if let shared = kinds.first(where: \.isShared) {
      throw StartupError(
        "the store kind \"\(shared.name)\" has stores that sessions share, which requires one node")
    }
  }

  /// Returns when the server has ended: after `stop`, or, without listeners, when its input has
  /// ended or its parent process has exited.
  public func untilEnded() async { await backend.untilEnded() }

  /// Calls `body`, on any thread, when all event loops have responded.
  public func whenAlive(_ body: @escaping @Sendable () -> Void) { status.whenAlive(body) }

  /// Closes connections whose token's name does not exist any more, after the tokens in the
  /// settings were replaced.
  public func credentialsChanged() { backend.credentialsChanged() }

  /// Handles a change of the lease of this node; callable on any thread, in the order of the
  /// changes.
  public func ownershipChanged(_ change: OwnershipChange) {
    status.take(change)
    backend.ownershipChanged(change)
  }

  /// Stops listening, lets connections finish their open requests, and ends.
  ///
  /// A client that does not read, and work that ignores its cancellation, are abandoned after a few
  /// seconds. A server must be stopped before it is released. A second call waits for the first.
  ///
  /// - Parameter served: Called when the clients are gone, and before the loops end: what serves the
  ///   stores from outside must deliver nothing after its return. It is not called by a second call.
  public func stop(served: () async -> Void = {}) async {
    status.drains()
    await backend.stop(served: served)
  }
}
