// SPDX-License-Identifier: Apache-2.0

public import ServerCore
public import TransportSupport

/// A running server: one thread, one shard on it, and everything that listens.
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

  /// Where the server listens, with the ports it was given.
  public var addresses: [ServerAddress] { backend.addresses }

  /// Starts a server and everything that it listens on.
  ///
  /// - Parameters:
  ///   - kinds: The kinds of stores that frontends can open.
  ///   - settings: The limits of connections, the log, and what `initialize` calls the program.
  ///   - sessionLimits: What one session may use.
  ///   - listeners: Where to listen; port 0 takes a free one, see `addresses`.
  ///   - certificate: What TLS begins with, where that is listened on.
  ///   - site: What is served over HTTP beside a WebSocket, where that is listened on.
  ///   - stdio: Whether to serve standard input and output as well. A server that serves nothing
  ///     else ends with its input, or with its parent.
  ///   - loop: What a server of standard input and output alone runs on; nil: a thread of its own.
  ///   - observers: Observers of all stores.
  ///   - journal: Where sessions with a handle are written down, and come back from; nil: nowhere.
  ///   - journalFailed: Told of each turn that could not be written down.
  ///   - storeFailed: Called with each new state of a store that cannot be encoded.
  ///   - outputFailed: Told why, on any thread, if something that was written to standard output is lost, since it is
  ///     a file and the disk is full, say. A reader that is gone is no failure.
  ///   - exitedEarly: Told, on any thread, if the client of a server of standard input and output alone
  ///     sends `exit` without `shutdown`, or if such a server ends because the journal cannot be read: the process is to
  ///     end with an error then.
  ///   - testing: Given where tests move the clock and inject faults (see `test/advanceClock`): the
  ///     work that they wait for beside that of the stores.
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
    // Before there is a thread that would have to end again.
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

  /// Returns when the server has ended: it was stopped, or it served stdio alone and that is over.
  public func untilEnded() async { await backend.untilEnded() }

  /// The tokens in the settings have been replaced: connections whose names are gone are closed.
  public func credentialsChanged() { backend.credentialsChanged() }

  /// Listens no more, lets connections finish what they were asked for, and ends.
  ///
  /// A peer that does not read, and work that does not end when it is cancelled, are waited for a
  /// few seconds and then left. A server must be stopped before it is let go of; stopping it twice
  /// waits for the first time.
  public func stop() async { await backend.stop() }
}
