// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import ServerCore
internal import Synchronization
internal import TransportSupport

/// The backend that serves only standard input and output: a loop, its shard, and one client.
final class StandardServer: ServerBackend, @unchecked Sendable {
  // @unchecked because `client` and `hasJournalFailed` are used only on the loop's thread.

  private let shard: Shard
  let addresses: [ServerAddress] = []
  var metrics: [ConnectionMetrics] { [connectionMetrics] }

  private let thread: Thread
  private let connectionMetrics = ConnectionMetrics()
  private let client: StandardClient
  private var hasJournalFailed = false
  private let streams: StandardStreams
  private let exitedEarly: @Sendable () -> Void
  /// Signalled when all output was written.
  private let ended = Latch()
  private let stopped = Latch()
  private let isStopping = Atomic(false)

  private init(
    _ shard: Shard, _ settings: ServerSettings, _ streams: StandardStreams, _ thread: Thread,
    exitedEarly: @escaping @Sendable () -> Void
  ) {
    self.shard = shard
    self.thread = thread
    self.streams = streams
    self.exitedEarly = exitedEarly
    client = StandardClient(
      streams, shard: shard, settings: settings, loop: thread.loop,
      metrics: connectionMetrics[.stdio])
  }

  /// The loop, which starts before its shard.
  struct Thread {
    fileprivate let loop: PollLoop
    /// True if the loop was created for this server and ends with it.
    private let ownsLoop: Bool

    /// - Parameter existing: A loop that the caller runs; nil for a new one on a new thread.
    /// - Throws: `StartupError`.
    init(_ existing: PollLoop?) throws(StartupError) {
      let loop = if let existing { existing } else { try PollLoop() }
      self.loop = loop
      ownsLoop = existing == nil
      if ownsLoop { try SystemThread.start { loop.run() } }
    }

    var shard: ShardThread {
      ShardThread(executor: loop, check: { [loop] in loop.checkIsolated() }, execute: loop.execute)
    }

    fileprivate func end() {
      if ownsLoop { loop.stop() }
    }
  }

  /// Starts serving. The journal is read while the first requests are served.
  ///
  /// - Parameters:
  ///   - shard: The shard to serve.
  ///   - settings: The limits of connections, the log, and the program's name in `initialize`.
  ///   - thread: The thread of the shard.
  ///   - outputFailed: Called with the reason, on any thread, if bytes of the output are lost.
  ///   - exitedEarly: Called if the client sends `exit` without `shutdown`, or if the server ends
  ///     because the journal cannot be read; before the server has ended.
  /// - Throws: `StartupError`; nothing is left running then.
  static func start(
    _ shard: Shard, _ settings: ServerSettings, on thread: Thread,
    outputFailed: @escaping @Sendable (String) -> Void,
    exitedEarly: @escaping @Sendable () -> Void
  ) async throws -> StandardServer {
    do {
      let streams = try StandardStreams(outputFailed: outputFailed)
      let server = StandardServer(
        shard, settings, streams, thread, exitedEarly: exitedEarly)
      try await shard.beginRestoring {
        settings.logger.warning("\($0)")
      } failed: { error in
        settings.logger.error("\(error)")
        exitedEarly()
        thread.loop.execute { server.journalFailed() }
      }
      // A shared store may be in the journal; its first use must not open another one.
      if shard.kinds.contains(where: \.isShared) { try? await shard.journalIsRead() }
      thread.loop.execute { server.begin() }
      return server
    } catch {
      await shard.stop()
      thread.end()
      throw error
    }
  }

  private func begin() {
    // The work of restored sessions must not delay the first response.
    client.whenFirstInput = { [shard] in shard.assumeIsolated { $0.continueSessions() } }
    client.begin { [self] in
      if client.hasExitedEarly { exitedEarly() }
      streams.close { self.ended.signal() }
    }
    sweep(ParentWatch())
    if hasJournalFailed { client.finish() }
  }

  /// Ends the server because the journal cannot be read, even if it does not serve yet.
  private func journalFailed() {
    hasJournalFailed = true
    client.finish()
  }

  /// Checks once a second, while the server runs, whether the parent process has exited and which
  /// sessions have expired. One timer for both, so that an idle process wakes rarely.
  private func sweep(_ parent: ParentWatch?) {
    thread.loop.schedule(after: .seconds(1)) { [weak self] in
      guard let self else { return }
      shard.assumeIsolated { shard in
        shard.sweepSessions()
        shard.endRecordings(at: .now)
      }
      let isGone = parent?.isGone ?? false
      if isGone { client.finish() }
      // The end of the parent is handled only once.
      sweep(isGone ? nil : parent)
    }
  }

  func untilEnded() async { await ended.wait() }

  func ownershipChanged(_ change: OwnershipChange) {}

  func credentialsChanged() {
    thread.loop.execute { [self] in client.credentialsChanged() }
  }

  func stop(served: () async -> Void) async {
    guard !isStopping.exchange(true, ordering: .relaxed) else { return await stopped.wait() }
    let loop = thread.loop
    loop.execute { [self] in
      client.finish()
      loop.schedule(after: ShardThread.timeToFinish) {
        self.client.abandon()
        // A terminal or a file may not take the output that its thread writes.
        loop.schedule(after: ShardThread.timeToFinish) {
          if !self.ended.isSignalled { self.client.settings.logCutOff(connections: 1) }
          self.ended.signal()
        }
      }
    }
    await ended.wait()
    await served()
    // Sessions may outlive their connections. Work that still runs delivers its end to the loop.
    let drained = Latch(endOf: { [shard] in await shard.stop() })
    loop.execute {
      loop.schedule(after: ShardThread.timeToDrain) { drained.signal() }
    }
    await drained.wait()
    stopped.signal()
    thread.end()
  }
}
