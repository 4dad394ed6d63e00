// SPDX-License-Identifier: Apache-2.0

public import ServerCore
public import TransportSupport

/// A running server: one thread with its shard, and all listeners.
///
/// ```swift
/// let server = try await Server.start(
///   kinds: [StoreKind("stopwatch") { Stopwatch() }],
///   listeners: [.tcp(host: "127.0.0.1", port: 7227)])
/// await server.untilEnded()
/// ```
public final class Server: Sendable {
  private let backend: any ServerBackend

  private init(_ backend: any ServerBackend) { self.backend = backend }

  /// The actor that owns the sessions.
  public var shard: Shard { backend.shard }

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
  ///   - certificate: The certificate for TLS; required if a listener uses TLS.
  ///   - site: The files that web listeners serve, and the origins that may open a WebSocket.
  ///   - stdio: True to serve standard input and output as well. A server without listeners ends
  ///     when its input ends or its parent process exits.
  ///   - loop: The loop of a server without listeners; nil for one on a new thread.
  ///   - observers: Observers of all stores.
  ///   - journal: The journal of sessions that have a handle; nil if sessions are not persisted.
  ///   - journalFailed: Called with the error of each turn that could not be journaled.
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
    listeners: [ServerAddress], certificate: ServerCertificate? = nil,
    site: WebSite = .init(), stdio: Bool = false,
    on loop: PollLoop? = nil,
    observers: [any StoreObserver] = [], journal: sending (any SessionJournal)? = nil,
    journalFailed: @escaping @Sendable (any Error) -> Void = { _ in },
    storeFailed: @escaping @Sendable (StoreFailure) -> Void = { _ in },
    outputFailed: @escaping @Sendable (String) -> Void = { _ in },
    exitedEarly: @escaping @Sendable () -> Void = {},
    testing: OutsideWork? = nil
  ) async throws -> Server {
    // Before any other thread starts, so that a failure has nothing to stop.
    let commits = journal != nil && testing == nil ? try JobThread() : nil
    if listeners.isEmpty, stdio {
      let thread = try StandardServer.Thread(loop)
      let shard = makeShard(
        on: thread.shard, commits, kinds, sessionLimits, observers, journal, journalFailed,
        storeFailed, testing)
      return Server(
        try await StandardServer.start(
          shard, settings, on: thread, outputFailed: outputFailed, exitedEarly: exitedEarly))
    }
    let web = try WebRouter(site)
    let thread = try SocketServer.Thread()
    let shard = makeShard(
      on: thread.shard, commits, kinds, sessionLimits, observers, journal, journalFailed,
      storeFailed, testing)
    return Server(
      try await SocketServer.start(
        shard, settings, on: thread, listeners, certificate, web, stdio: stdio,
        outputFailed: outputFailed))
  }

  private static func makeShard(
    on thread: ShardThread, _ commits: JobThread?, _ kinds: [StoreKind], _ limits: SessionLimits,
    _ observers: [any StoreObserver], _ journal: sending (any SessionJournal)?,
    _ journalFailed: @escaping @Sendable (any Error) -> Void,
    _ storeFailed: @escaping @Sendable (StoreFailure) -> Void, _ testing: OutsideWork?
  ) -> Shard {
    if let testing {
      let rest = IdleTracker(outside: testing, checkThread: thread.check, execute: thread.execute)
      return Shard(
        testing: rest, kinds: kinds, limits: limits, observers: observers, journal: journal,
        journalFailed: journalFailed, storeFailed: storeFailed)
    }
    return Shard(
      executor: thread.executor, kinds: kinds, limits: limits, observers: observers,
      journal: journal,
      journalThreads: commits.map { commits in
        JournalThreads(commit: { commits.run($0) }, notify: thread.execute)
      }, journalFailed: journalFailed, storeFailed: storeFailed)
  }

  /// Returns when the server has ended: after `stop`, or, without listeners, when its input has
  /// ended or its parent process has exited.
  public func untilEnded() async { await backend.untilEnded() }

  /// Closes connections whose token's name does not exist any more, after the tokens in the
  /// settings were replaced.
  public func credentialsChanged() { backend.credentialsChanged() }

  /// Stops listening, lets connections finish their open requests, and ends.
  ///
  /// A client that does not read, and work that ignores its cancellation, are abandoned after a few
  /// seconds. A server must be stopped before it is released. A second call waits for the first.
  public func stop() async { await backend.stop() }
}
