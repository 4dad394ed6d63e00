// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
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
    var open: [(address: ServerAddress, channel: any Channel)] = []
    var bridged: Latch?
    let duties = nodes.map { NodeDuties($0.ownership, of: shards[0].group) }
    func server() -> SocketServer {
      SocketServer(
        loops, on: threads, listeners: open, inherited: inherited, bridged: bridged, nodes, duties)
    }
    do {
      // Together: a loop is woken once, and none waits for another.
      let begun = try zip(loops, threads.loops).map { serving, thread in
        try begin(serving, thread.executor, among: loops)
      }
      for begun in begun { try await begun.get() }
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
      for address in listeners {
        open.append(
          try await listen(
            on: address, inherited[address], loops[0].loop, threads.group, acceptor, gate))
      }
      for serving in loops {
        sweep(serving, serving.loop === loops[0].loop ? duties : nil, nodes.map { LeaseWatch($0) })
      }
      if stdio {
        bridged = try await StandardBridge.begin(on: loops[0].loop, outputFailed: outputFailed) {
          acceptor.accept($0)
        }
      }
      for serving in loops where serving.shard.hasJournal {
        await serving.shard.continueSessions()
      }
    } catch {
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
    if let bridged {
      loops[0].loop.scheduleTask(in: TimeAmount(ShardThread.timeToFinish)) { bridged.signal() }
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

// MARK: - Listening

extension SocketServer {
  private static func listen(
    on address: ServerAddress, _ inherited: CInt?, _ loop: any EventLoop,
    _ group: any EventLoopGroup, _ acceptor: Acceptor, _ gate: NIOLoopBoundBox<AcceptGate>
  ) async throws -> (ServerAddress, any Channel) {
    // SwiftNIO distributes new connections over the loops in turn.
    let listening = ServerBootstrap(group: loop, childGroup: group)
      .serverChannelOption(.backlog, value: backlog)
      // The gate can close after any of them.
      .serverChannelOption(.maxMessagesPerRead, value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          channel.closeOnExec()
          try channel.pipeline.syncOperations.addHandler(AcceptHandler(gate.value))
        }
      }
    func bootstrap(
      isTCP: Bool = true, _ accept: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> ServerBootstrap {
      listening.childChannelInitializer { socket in
        // Not by options of the bootstrap: if one failed, SwiftNIO would close the socket before this.
        let counted = socket.eventLoop.makeCompletedFuture { try configure(socket, isTCP: isTCP) }
          .flatMap { accept(socket) }
        // A socket that is not counted is closed.
        counted.flatMapError { _ in socket.closeFuture }.hop(to: loop).whenComplete { _ in
          gate.value.countedOrClosed(socket)
        }
        return counted
      }
    }
    do {
      switch address {
      case .tcp(let host, let port):
        let channel = try await bind(
          tcp: bootstrap { acceptor.accept(tcp: $0) }, inherited, host, port)
        return (.tcp(host: host, port: channel.localAddress?.port ?? port), channel)
      case .tls(let host, let port):
        guard let certificate = acceptor.certificate else {
          throw StartupError("cannot listen on \(address): TLS requires a certificate")
        }
        let channel = try await bind(
          tcp: bootstrap { acceptor.accept(tls: $0, certificate) }, inherited, host, port)
        return (.tls(host: host, port: channel.localAddress?.port ?? port), channel)
      case .web(let host, let port):
        let channel = try await bind(
          tcp: bootstrap { acceptor.accept(web: $0) }, inherited, host, port)
        return (.web(host: host, port: channel.localAddress?.port ?? port), channel)
      case .secureWeb(let host, let port):
        guard let certificate = acceptor.certificate else {
          throw StartupError("cannot listen on \(address): TLS requires a certificate")
        }
        let channel = try await bind(
          tcp: bootstrap { acceptor.accept(secureWeb: $0, certificate) }, inherited, host, port)
        return (.secureWeb(host: host, port: channel.localAddress?.port ?? port), channel)
      case .unix(let path):
        if inherited == nil { try UnixSocketFile.removeStale(path) }
        let descriptor = try inherited ?? UnixSocketFile.bind(path)
        let channel =
          try await bootstrap(isTCP: false) { acceptor.accept(unix: $0) }.withBoundSocket(
            descriptor
          ).get()
        // SwiftNIO uses 128 for a socket that it has not created.
        Glibc.listen(descriptor, backlog)
        return (address, channel)
      }
    } catch let error as StartupError {
      throw error
    } catch {
      throw StartupError("cannot listen on \(address): \(reason(for: error))", cause: error)
    }
  }

  /// Sets the options of an accepted socket.
  private static func configure(_ socket: any Channel, isTCP: Bool) throws {
    guard let options = socket.syncOptions else { return }
    try options.setOption(.allowRemoteHalfClosure, value: true)
    // One read, then the loop serves the other connections.
    try options.setOption(.maxMessagesPerRead, value: 1)
    try options.setOption(.recvAllocator, value: ReceiveBuffers())
    // Bytes that wait in the channel can no longer be coalesced.
    try options.setOption(
      .writeBufferWaterMark,
      value: ChannelOptions.Types.WriteBufferWaterMark(low: 4 << 10, high: 16 << 10))
    guard isTCP else { return }
    try options.setOption(.tcpOption(.tcp_nodelay), value: 1)
    // Updates can be coalesced until the kernel has them, so it takes only 16 KiB of unsent bytes.
    try options.setOption(
      .tcpOption(NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT)), value: 16 << 10)
    // A client that has gone without closing is noticed after 90 seconds: 60 seconds without data, then
    // 3 probes at intervals of 10 seconds.
    try options.setOption(.socketOption(.so_keepalive), value: 1)
    try options.setOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPIDLE)), value: 60)
    try options.setOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPINTVL)), value: 10)
    try options.setOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPCNT)), value: 3)
  }

  // Number of connections that may wait to be accepted.
  private static let backlog: Int32 = 1024

  private static func bind(
    tcp bootstrap: ServerBootstrap, _ inherited: CInt?, _ host: String, _ port: Int
  ) async throws -> any Channel {
    let bootstrap =
      bootstrap
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
    guard let inherited else { return try await bootstrap.bind(host: host, port: port).get() }
    return try await bootstrap.withBoundSocket(inherited).get()
  }

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

  private static func reason(for error: any Error) -> String {
    (error as? IOError).map { systemMessage($0.errnoCode) } ?? "\(error)"
  }
}
