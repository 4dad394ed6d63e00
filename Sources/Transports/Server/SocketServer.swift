// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import ServerCore
internal import Synchronization
internal import TransportSupport

/// The backend that listens on sockets: event loops of SwiftNIO, each with a shard.
final class SocketServer: ServerBackend {
  let addresses: [ServerAddress]
  var metrics: [ConnectionMetrics] { loops.map(\.metrics) }

  private let threads: Threads
  private let loops: [ServingLoop]
  private let listeners: [any Channel]
  private let files: [UnixSocketFile.Identity?]
  /// Signalled when all output was written to standard output; nil if the server does not serve it.
  private let bridged: Latch?
  private let nodes: NodeMembership?
  private let duties: NodeDuties?
  // Not a promise of a loop, which would not complete after the loop has ended.
  private let ended = Latch()
  private let isStopping = Atomic(false)

  private init(
    _ loops: [ServingLoop], on threads: Threads,
    listeners: [(address: ServerAddress, channel: any Channel)],
    inherited: [ServerAddress: CInt], bridged: Latch?,
    _ nodes: NodeMembership?, _ duties: NodeDuties?
  ) {
    self.loops = loops
    (self.nodes, self.duties) = (nodes, duties)
    self.threads = threads
    self.listeners = listeners.map(\.channel)
    addresses = listeners.map(\.address)
    self.bridged = bridged
    files = listeners.map { listener in
      // The file of an inherited socket belongs to the process that has opened it.
      if case .unix(let path) = listener.address, inherited[listener.address] == nil {
        UnixSocketFile.Identity(path)
      } else {
        nil
      }
    }
  }

  /// The event loops, which start before their shards.
  struct Threads {
    fileprivate let group: MultiThreadedEventLoopGroup
    fileprivate let loops: [(loop: any EventLoop, executor: LoopExecutor)]

    /// - Parameter count: The number of loops.
    /// - Throws: `StartupError` if the process has no descriptors or threads left.
    init(_ count: Int) throws(StartupError) {
      // SwiftNIO ends the process if it cannot get them.
      try SystemResources.require(descriptors: Self.descriptors * count)
      try SystemResources.require(threads: count)
      group = MultiThreadedEventLoopGroup(numberOfThreads: count)
      loops = group.makeIterator().map { ($0, LoopExecutor($0)) }
    }

    /// The epoll, event and timer descriptors of a loop, and the two sockets of its
    /// `YieldQueue`.
    static let descriptors = 5

    var shards: [ShardThread] {
      loops.map { loop, executor in
        ShardThread(
          executor: executor, check: { loop.preconditionInEventLoop() },
          execute: { executor.execute($0) })
      }
    }
  }

  /// Starts listening.
  ///
  /// - Parameters:
  ///   - shards: The shards to serve, one for each thread.
  ///   - settings: The limits of connections, the log, and the program's name in `initialize`.
  ///   - threads: The threads of the shards; they end with the server.
  ///   - listeners: The addresses to listen on.
  ///   - inherited: The descriptors of sockets that listen already.
  ///   - certificate: The certificate for TLS; required if a listener uses TLS.
  ///   - web: The router of HTTP requests.
  ///   - nodes: The place among other nodes; nil if this is the only one.
  ///   - stdio: True to serve standard input and output as well.
  ///   - outputFailed: Called with the reason, on any thread, if bytes of standard output are lost.
  /// - Throws: `StartupError`; nothing is left running then.
  static func start(
    _ shards: [Shard], _ settings: ServerSettings, on threads: Threads,
    _ listeners: [ServerAddress], _ inherited: [ServerAddress: CInt],
    _ certificate: ServerCertificate?, _ web: WebRouter, _ nodes: NodeMembership?, stdio: Bool,
    outputFailed: @escaping @Sendable (String) -> Void
  ) async throws -> SocketServer {
    let counts = ConnectionCounts(settings)
    let loops = zip(shards, threads.loops).map { shard, thread in
      ServingLoop(shard, settings, counts, on: thread.loop)
    }
    let acceptor = Acceptor(
      loops: loops, settings: settings, certificate: certificate, web: web)
    // Those that no event loop has yet.
    var sockets: ArraySlice<ListeningSocket> = []
    var open: [(address: ServerAddress, channel: any Channel)] = []
    var bridged: Latch?
    let duties = nodes.map { NodeDuties($0.ownership, of: shards[0].group) }
    func server() -> SocketServer {
      SocketServer(
        loops, on: threads, listeners: open, inherited: inherited, bridged: bridged, nodes, duties)
    }
    do {
      // Later jobs of a loop find it prepared.
      let begun = try zip(loops, threads.loops).map { serving, thread in
        try begin(serving, thread.executor, among: loops)
      }
      if let nodes {
        let tls = try nodes.tlsContext()
        for serving in loops {
          try await serving.loop.submit {
            serving.registry.value.nodes = NodeLinks(
              nodes, tls, settings, of: serving.shard, on: serving.loop)
          }.get()
        }
      }
      // Before a client can attach to a session.
      for serving in loops where serving.shard.hasJournal {
        try await serving.shard.beginRestoring { settings.logger.warning("\($0)") }
      }
      for serving in loops where serving.shard.hasJournal {
        try await serving.shard.journalIsRead()
      }
      let gate = NIOLoopBoundBox.makeBoxSendingValue(
        AcceptGate(settings, on: loops[0].loop), eventLoop: loops[0].loop)
      let accepting = try listeners.map { try acceptor.accepting(at: $0) }
      for address in listeners {
        sockets.append(
          try inherited[address].map { ListeningSocket($0, at: address) }
            ?? ListeningSocket(at: address))
      }
      // Its client need not wait until the loop accepts others, of which there are none yet.
      if stdio {
        bridged = try await StandardBridge.begin(on: loops[0].loop, outputFailed: outputFailed) {
          acceptor.accept($0)
        }
      }
      for accept in accepting {
        let socket = sockets.removeFirst()
        open.append(
          try await socket.accept(with: accept, on: loops[0].loop, for: threads.group, gate))
      }
      for begun in begun { try await begun.get() }
      for serving in loops {
        sweep(serving, serving.loop === loops[0].loop ? duties : nil, nodes.map { LeaseWatch($0) })
      }
      for serving in loops where serving.shard.hasJournal {
        await serving.shard.continueSessions()
      }
    } catch {
      for socket in sockets where inherited[socket.address] == nil { socket.close() }
      await server().stop {}
      throw error
    }
    return server()
  }

  /// Prepares a loop for its first connection.
  ///
  /// - Returns: A future that completes when the loop is prepared.
  private static func begin(
    _ serving: ServingLoop, _ executor: LoopExecutor, among loops: [ServingLoop]
  ) throws(StartupError) -> EventLoopFuture<Void> {
    try YieldQueue.begin(on: serving.loop, for: serving.registry, executor) {
      let registry = serving.registry.value
      registry.otherLoops = loops.filter { $0.loop !== serving.loop }
      serving.shard.assumeIsolated { registry.configure($0) }
    }
  }

  func untilEnded() async { await ended.wait() }

  func credentialsChanged() {
    for serving in loops { serving.execute { $0.credentialsChanged() } }
  }

  func stop(served: () async -> Void) async {
    guard !isStopping.exchange(true, ordering: .relaxed) else {
      return await ended.wait()
    }
    for channel in listeners { try? await channel.close() }
    for (address, file) in zip(addresses, files) {
      if case .unix(let path) = address, let file { UnixSocketFile.remove(path, file) }
    }
    duties?.stop()
    let handingOver = nodes == nil ? [] : loops.map(handOver)
    let closed = loops.map { $0.loop.makePromise(of: Void.self) }
    for (serving, closed) in zip(loops, closed) {
      serving.execute { $0.finishAll(closed) }
      serving.loop.scheduleTask(in: TimeAmount(ShardThread.timeToFinish)) {
        [registry = serving.registry] in registry.value.abandonAll()
      }
    }
    for closed in closed { try? await closed.futureResult.get() }
    // Relayed connections may wait for other clients until then, and notify other loops.
    for serving in loops {
      let served = serving.loop.makePromise(of: Void.self)
      serving.execute { registry in
        guard let queue = registry.yieldQueue else { return served.succeed() }
        queue.whenServed { served.succeed() }
      }
      try? await served.futureResult.get()
    }
    if let bridged {
      loops[0].loop.scheduleTask(in: TimeAmount(ShardThread.timeToFinish)) {
        [registry = loops[0].registry] in
        if !bridged.isSignalled { registry.value.settings.logCutOff(connections: 1) }
        bridged.signal()
      }
      await bridged.wait()
    }
    for handingOver in handingOver { handingOver.cancel() }
    await served()
    // Sessions may outlive their connections. Actions that are already on the way to a loop come
    // before this; closed stores ignore them. Work that still runs delivers its end to the loop
    // later.
    for serving in loops {
      let (registry, shard) = (serving.registry, serving.shard)
      try? await serving.loop.submit {
        shard.assumeIsolated { $0.closeStores() }
        registry.value.otherLoops = []
      }.get()
    }
    let shards = loops.map(\.shard)
    let drained = Latch(endOf: { for shard in shards { await shard.drain() } })
    loops[0].loop.scheduleTask(in: TimeAmount(ShardThread.timeToDrain)) { drained.signal() }
    await drained.wait()
    await leave()
    loops[0].shard.group.setMembers([])
    await threads.end()
    ended.signal()
  }
}

// MARK: - Nodes

extension SocketServer {
  func ownershipChanged(_ change: OwnershipChange) {
    for serving in loops {
      serving.execute { registry in
        if change == .lost { registry.sessionsAreLost() }
        serving.shard.assumeIsolated { shard in
          shard.turn { shard.ownershipChanged(change) }
        }
      }
    }
  }

  /// Gives up sessions whose clients have left, while the server ends.
  private func handOver(_ serving: ServingLoop) -> RepeatedTask {
    serving.loop.scheduleRepeatedTask(initialDelay: .zero, delay: Self.handOverInterval) { _ in
      serving.shard.assumeIsolated { shard in
        _ = shard.turn { shard.releaseIdleSessions(limit: 500) }
      }
    }
  }

  /// Gives up all remaining sessions and the lease.
  private func leave() async {
    guard let nodes else { return }
    let left = Latch()
    nodes.ownership.leave { _ in left.signal() }
    loops[0].loop.scheduleTask(in: TimeAmount(ShardThread.timeToDrain)) { left.signal() }
    await left.wait()
  }

  private static let handOverInterval = TimeAmount.milliseconds(20)
}

extension SocketServer.Threads {
  /// Ends the threads.
  fileprivate func end() async {
    for (_, executor) in loops { executor.end() }
    await withUnsafeContinuation { continuation in
      // Not a global queue, which is SwiftNIO's default: libdispatch traps there if `/proc` is
      // missing.
      let queue = DispatchQueue(label: "statewire.end")
      group.shutdownGracefully(queue: queue) { _ in continuation.resume() }
    }
  }
}

// MARK: - Sweeps

extension SocketServer {
  /// Starts the sweep of clients and sessions, once a second while the loop runs.
  private static func sweep(
    _ serving: ServingLoop, _ duties: NodeDuties?, _ lease: LeaseWatch?
  ) {
    serving.loop.execute {
      // It ends with the loop.
      serving.loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
        serving.registry.value.sweep()
        duties?.tick()
        if let isLong = lease?.check(.now) {
          serving.registry.value.databaseIsGone(isLong: isLong)
        }
        serving.shard.assumeIsolated { shard in
          shard.sweepSessions()
          shard.endRecordings(at: .now)
          shard.rebalanceMemory()
        }
      }
    }
  }
}
