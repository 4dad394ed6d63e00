// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import ServerCore
internal import Synchronization
internal import TransportSupport

/// What serves standard input and output, and nothing else: a loop, the shard on it, and one peer.
final class StandardServer: ServerBackend, @unchecked Sendable {
  // @unchecked because `peer` is touched on the loop's thread alone.

  let shard: Shard
  let addresses: [ServerAddress] = []

  private let thread: Thread
  private let peer: StandardClient
  private var hasJournalFailed = false
  private let streams: StandardStreams
  private let exitedEarly: @Sendable () -> Void
  /// Everything written has gone out.
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
    peer = StandardClient(streams, shard: shard, settings: settings, loop: thread.loop)
  }

  /// The loop, which begins before the shard that is on it.
  struct Thread {
    fileprivate let loop: PollLoop
    /// Whether it was made for this server and ends with it.
    private let isOurs: Bool

    /// - Parameter given: What runs on a thread already, or will; nil: one is started.
    /// - Throws: `StartupError`.
    init(_ given: PollLoop?) throws(StartupError) {
      let loop = if let given { given } else { try PollLoop() }
      self.loop = loop
      isOurs = given == nil
      if isOurs { try SystemThread.start { loop.run() } }
    }

    var shard: ShardThread {
      ShardThread(executor: loop, check: { [loop] in loop.checkIsolated() }, execute: loop.execute)
    }

    fileprivate func end() {
      if isOurs { loop.stop() }
    }
  }

  /// Starts serving. The journal is read beside the first responses.
  ///
  /// - Parameters:
  ///   - shard: What is served.
  ///   - settings: The limits of connections, the log, and what `initialize` calls the program.
  ///   - thread: Where.
  ///   - outputFailed: Told why if something that was written is lost, on any thread.
  ///   - exitedEarly: Told if the client sends `exit` without `shutdown`, or if the server ends because the journal cannot
  ///     be read; before the server has ended.
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
        settings.logger.error("\($0)")
      } failed: { error in
        settings.logger.error("\(error)")
        exitedEarly()
        thread.loop.execute { server.journalFailed() }
      }
      thread.loop.execute { server.begin() }
      return server
    } catch {
      await shard.stop()
      thread.end()
      throw error
    }
  }

  private func begin() {
    // What sessions have to do by themselves is not to be in the way of the first response.
    peer.whenHeard = { [shard] in shard.assumeIsolated { $0.continueSessions() } }
    peer.begin { [self] in
      if peer.hasExitedEarly { exitedEarly() }
      streams.close { self.ended.happen() }
    }
    sweep(ParentWatch())
    if hasJournalFailed { peer.finish() }
  }

  /// The journal cannot be read: the server ends, also if it has not begun.
  private func journalFailed() {
    hasJournalFailed = true
    peer.finish()
  }

  /// Looks, as long as the server runs, whether its parent is there and whether sessions have expired:
  /// one timer for both, since a process that waits is to be woken seldom.
  private func sweep(_ parent: ParentWatch?) {
    thread.loop.schedule(after: .seconds(1)) { [weak self] in
      guard let self else { return }
      shard.assumeIsolated { shard in
        shard.turn { shard.expireSessions() }
        shard.continueSessions()
      }
      let isGone = parent?.isGone ?? false
      if isGone { peer.finish() }
      // It is gone once.
      sweep(isGone ? nil : parent)
    }
  }

  func untilEnded() async { await ended.wait() }

  func credentialsChanged() {
    thread.loop.execute { [self] in peer.credentialsChanged() }
  }

  func stop() async {
    guard !isStopping.exchange(true, ordering: .relaxed) else { return await stopped.wait() }
    let loop = thread.loop
    loop.execute { [self] in
      peer.finish()
      loop.schedule(after: ShardThread.timeToFinish) { self.peer.close() }
    }
    await ended.wait()
    // Sessions may outlive their connections. What runs in them still has its end to tell to the loop.
    let drained = Latch(endOf: { [shard] in await shard.stop() })
    loop.execute {
      loop.schedule(after: ShardThread.timeToDrain) { drained.happen() }
    }
    await drained.wait()
    stopped.happen()
    thread.end()
  }
}
