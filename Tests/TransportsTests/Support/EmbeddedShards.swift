// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import ServerCore
import StateMachines
import TestSupport

@testable import Transports

/// The shards of a server without sockets, whose loops the test runs in an order of its choice. For tests
/// that stay on one thread.
final class EmbeddedShards {
  let loops: [EmbeddedEventLoop]
  let shards: [ServingLoop]
  let counts: ConnectionCounts
  let settings: ServerSettings
  /// True if the commits of the journal fail.
  let journalFails = Lock(false)
  private let executors: [LoopExecutor]
  private let yieldQueues: [YieldQueue]
  private var channels: [EmbeddedChannel] = []

  /// - Parameters:
  ///   - count: The number of shards.
  ///   - kinds: The kinds of its stores.
  ///   - limits: The limits of its connections.
  ///   - now: The clock that measures turns. By default it stands still, so that no turn is long,
  ///     however slow the machine is.
  ///   - ownership: The ownership of sessions by a node among others; nil if it is the only one.
  ///   - journalThread: Holds the commits of a journal that keeps nothing; nil for no journal.
  init(
    _ count: Int, kinds: [StoreKind] = [], limits: ServerLimits = ServerLimits(),
    now: (@Sendable () -> ContinuousClock.Instant)? = nil,
    ownership: (any SessionOwnership)? = nil, on journalThread: HeldJobs? = nil
  ) {
    let start = ContinuousClock.now
    let settings = ServerSettings(limits: limits, now: now ?? { start })
    let group = ShardGroup(count: count, limits: SessionLimits())
    let counts = ConnectionCounts(settings)
    let journalFails = journalFails
    let journal = journalThread.flatMap {
      JournalWriter(NoJournal(fails: journalFails), commit: $0.add)
    }
    loops = (0..<count).map { _ in EmbeddedEventLoop() }
    executors = loops.map { LoopExecutor($0, now: { start }) }
    let notify: @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() }
    var shards: [ServingLoop] = []
    for (index, loop) in loops.enumerated() {
      let shard = Shard(
        executor: executors[index], in: group, at: ShardPlace(index: index, count: count),
        kinds: kinds, limits: SessionLimits(), journal: journal,
        journalNotify: journal.map { _ in notify }, ownership: ownership)
      shards.append(ServingLoop(shard, settings, counts, on: loop))
    }
    self.shards = shards
    yieldQueues = loops.map { _ in YieldQueue(-1, settings.now) }
    (self.settings, self.counts) = (settings, counts)
    group.setMembers(
      zip(shards, executors).map { serving, executor in
        ShardGroup.Member(serving.shard) { executor.execute($0) }
      })
    for (serving, yieldQueue) in zip(shards, yieldQueues) {
      let registry = serving.registry.value
      registry.otherLoops = shards.filter { $0.loop !== serving.loop }
      registry.yieldQueue = yieldQueue
      // because the test's thread is that of all loops.
      nonisolated(unsafe) let unsafeRegistry = registry
      serving.shard.assumeIsolated { unsafeRegistry.configure($0) }
    }
    for loop in loops { loop.advanceTime(by: .hours(1)) }
  }

  /// Releases the shards, which know each other, as a server does at its end.
  deinit {
    try? stop()
    shards.first?.shard.group.setMembers([])
    for serving in shards {
      serving.registry.value.otherLoops = []
      // Sessions with handles outlive their connections.
      serving.shard.assumeIsolated { $0.closeStores() }
    }
    for loop in loops { try? loop.syncShutdownGracefully() }
  }

  /// The connections of a shard that wait for other clients to be served. The test continues them.
  func yieldQueue(_ index: Int) -> YieldQueue { yieldQueues[index] }

  func registry(_ index: Int) -> ConnectionRegistry { shards[index].registry.value }

  /// Returns a connection of a client, whose channel is on a loop.
  func connect(to index: Int, isRemote: Bool = false) throws -> EmbeddedChannel {
    try connect([handler(index, isRemote: isRemote)], to: index)
  }

  func handler(
    _ index: Int, isRemote: Bool = false, over transport: ClientTransport = .tcp
  ) -> ConnectionHandler {
    ConnectionHandler(
      shard: shards[index].shard, registry: registry(index), isRemote: isRemote, over: transport)
  }

  /// Returns a channel with handlers.
  func connect(_ handlers: [any ChannelHandler], to index: Int) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel(loop: loops[index])
    for handler in handlers { try channel.pipeline.syncOperations.addHandler(handler) }
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    channels.append(channel)
    return channel
  }

  /// Runs all loops until nothing is left to do.
  func run() { for _ in 0..<20 { for loop in loops { loop.run() } } }

  /// Ends all connections.
  func stop() throws {
    for channel in channels { _ = try channel.finish(acceptAlreadyClosed: true) }
    run()
  }
}

private final class NoJournal: SessionJournal {
  private struct Failure: Error {}
  private let fails: Lock<Bool>

  init(fails: Lock<Bool>) { self.fails = fails }

  func commit(_ entries: [JournalEntry]) throws {
    if fails.withLock({ $0 }) { throw Failure() }
  }
  func load() -> JournalContents { JournalContents() }
  func start() -> JournalStart { JournalContents().start }
  func load(_ session: SessionHandle) -> LoadedSession { JournalContents().loaded(session) }
  func continuing(after position: Int64?, limit: Int) -> ContinuingSessions {
    JournalContents().continuing(after: position, limit: limit)
  }
  func endExpired(at time: Duration, limit: Int) -> Int { 0 }
}
