// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix
public import ServerCore
internal import Synchronization

/// A running server: one event loop, one shard on it, and everything that listens.
///
/// ```swift
/// let server = try await Server.start(
///   kinds: [StoreKind("stopwatch") { Stopwatch() }],
///   listeners: [.tcp(host: "127.0.0.1", port: 7227)])
/// await server.untilEnded()
/// ```
public final class Server: Sendable {
  /// The actor that owns the sessions.
  public let shard: Shard

  /// Where the server listens, with the ports it was given.
  public let addresses: [ServerAddress]

  private let group: MultiThreadedEventLoopGroup
  private let loop: any EventLoop
  private let registry: NIOLoopBoundBox<ConnectionRegistry>
  private let listeners: [any Channel]
  private let files: [UnixSocketFile.Identity?]
  private let ended: EventLoopPromise<Void>
  private let stopped: EventLoopPromise<Void>
  private let isStopping = Atomic(false)

  private init(
    shard: Shard, group: MultiThreadedEventLoopGroup, loop: any EventLoop,
    registry: NIOLoopBoundBox<ConnectionRegistry>,
    listeners: [(address: ServerAddress, channel: any Channel)], ended: EventLoopPromise<Void>
  ) {
    self.shard = shard
    self.group = group
    self.loop = loop
    self.registry = registry
    self.listeners = listeners.map(\.channel)
    addresses = listeners.map(\.address)
    files = listeners.map { listener in
      if case .unix(let path) = listener.address { UnixSocketFile.Identity(path) } else { nil }
    }
    self.ended = ended
    stopped = loop.makePromise()
  }

  /// Starts a server and everything that it listens on.
  ///
  /// - Parameters:
  ///   - kinds: The kinds of stores that frontends can open.
  ///   - settings: The limits of connections, the log, and what `initialize` calls the program.
  ///   - sessionLimits: What one session may use.
  ///   - listeners: Where to listen; port 0 takes a free one, see `addresses`.
  ///   - certificate: What TLS begins with, where that is listened on.
  ///   - stdio: Whether to serve standard input and output as well. A server that serves nothing
  ///     else ends with its input, or with its parent.
  ///   - observers: Observers of all stores.
  ///   - journal: Where sessions with a handle are written down, and come back from; nil: nowhere.
  ///   - journalFailed: Told of each turn that could not be written down.
  ///   - testing: Given where tests move the clock and inject faults (see `test/advanceClock`): the
  ///     work that they wait for beside that of the stores.
  /// - Throws: `StartupError`; nothing is left running then.
  public static func start(
    kinds: [StoreKind], settings: ServerSettings = .init(), sessionLimits: SessionLimits = .init(),
    listeners: [ServerAddress], certificate: ServerCertificate? = nil, stdio: Bool = false,
    observers: [any StoreObserver] = [], journal: sending (any SessionJournal)? = nil,
    journalFailed: @escaping @Sendable (any Error) -> Void = { _ in },
    testing: OutsideWork? = nil
  ) async throws -> Server {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let shard: Shard
    if let testing {
      let rest = Rest(
        outside: testing, checkThread: { loop.preconditionInEventLoop() },
        execute: { loop.execute($0) })
      shard = Shard(
        testing: rest, kinds: kinds, limits: sessionLimits, observers: observers, journal: journal,
        journalFailed: journalFailed)
    } else {
      shard = Shard(
        executor: loop.executor, kinds: kinds, limits: sessionLimits, observers: observers,
        journal: journal, journalFailed: journalFailed)
    }
    let registry = NIOLoopBoundBox.makeBoxSendingValue(
      ConnectionRegistry(settings), eventLoop: loop)
    let house = House(
      shard: shard, settings: settings, registry: registry, certificate: certificate)
    let ended = loop.makePromise(of: Void.self)
    var open: [(address: ServerAddress, channel: any Channel)] = []
    func server() -> Server {
      Server(
        shard: shard, group: group, loop: loop, registry: registry, listeners: open, ended: ended)
    }
    do {
      // Before anybody can attach.
      for sentence in try await shard.restore() { settings.logger.error("\(sentence)") }
      for address in listeners { open.append(try await listen(on: address, loop, house)) }
      if !listeners.isEmpty { sweep(loop, shard, registry) }
      if stdio {
        let closed = try await StandardStreams.serve(on: loop) { house.receive($0) }
        // With nothing else to serve, the end of these is the end of all.
        if listeners.isEmpty {
          closed.whenComplete { _ in ended.succeed() }
          ParentWatch.begin(on: loop, until: closed) { registry.value.finishAll(ended) }
        }
      }
    } catch {
      await server().stop()
      throw error
    }
    return server()
  }

  /// Returns when the server has ended: it was stopped, or it served stdio alone and that is over.
  public func untilEnded() async {
    try? await ended.futureResult.get()
  }

  /// The tokens in the settings have been replaced: connections whose names are gone are closed.
  public func credentialsChanged() {
    let registry = registry
    loop.execute { registry.value.credentialsChanged() }
  }

  /// Listens no more, lets connections finish what they were asked for, and ends.
  ///
  /// A peer that does not read, and work that does not end when it is cancelled, are waited for a
  /// few seconds and then left. A server must be stopped before it is let go of; stopping it twice
  /// waits for the first time.
  public func stop() async {
    guard !isStopping.exchange(true, ordering: .relaxed) else {
      return await untilStopped()
    }
    for channel in listeners { try? await channel.close() }
    for (address, file) in zip(addresses, files) {
      if case .unix(let path) = address, let file { UnixSocketFile.remove(path, file) }
    }
    let (registry, shard, ended) = (registry, shard, ended)
    let gone = loop.makePromise(of: Void.self)
    loop.execute { registry.value.finishAll(gone) }
    loop.scheduleTask(in: Self.timeToFinish) { registry.value.abandonAll() }
    try? await gone.futureResult.get()
    // Work that was cancelled with its store still has its end to tell to the loop.
    let drained = loop.makePromise(of: Void.self)
    drained.completeWithTask { await shard.drain() }
    loop.scheduleTask(in: Self.timeToDrain) { drained.succeed() }
    try? await drained.futureResult.get()
    ended.succeed()
    // The last that this loop does is to let go of whoever waits for it.
    stopped.succeed()
    try? await group.shutdownGracefully()
  }

  private func untilStopped() async { try? await stopped.futureResult.get() }

  private static let timeToFinish = TimeAmount.seconds(5)
  private static let timeToDrain = TimeAmount.seconds(3)
}

// MARK: - Listening

extension Server {
  private static func listen(
    on address: ServerAddress, _ loop: any EventLoop, _ house: House
  ) async throws -> (ServerAddress, any Channel) {
    let bootstrap = ServerBootstrap(group: loop)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptPause(house.settings.logger))
        }
      }
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      // So much of a flood is worked on before the others have their turn.
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(
        .recvAllocator,
        value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 256, maximum: 16 << 10)
      )
      // What waits here can be merged no more.
      .childChannelOption(
        .writeBufferWaterMark,
        value: ChannelOptions.Types.WriteBufferWaterMark(low: 4 << 10, high: 16 << 10))
    do {
      switch address {
      case .tcp(let host, let port):
        let channel = try await bind(
          tcp: bootstrap.childChannelInitializer { house.receive(tcp: $0) }, host, port)
        return (.tcp(host: host, port: channel.localAddress?.port ?? port), channel)
      case .tls(let host, let port):
        guard let certificate = house.certificate else {
          throw StartupError("cannot listen on \(address): TLS wants a certificate")
        }
        let channel = try await bind(
          tcp: bootstrap.childChannelInitializer { house.receive(tls: $0, certificate) }, host,
          port)
        return (.tls(host: host, port: channel.localAddress?.port ?? port), channel)
      case .unix(let path):
        try UnixSocketFile.makeWay(path)
        // The file must never be there with other permissions, not for a moment.
        let mask = umask(0o177)
        defer { umask(mask) }
        let channel =
          try await bootstrap
          .childChannelInitializer { house.receive(unix: $0) }
          .bind(unixDomainSocketPath: path).get()
        return (address, channel)
      }
    } catch let error as StartupError {
      throw error
    } catch {
      throw StartupError("cannot listen on \(address): \(reason(for: error))", cause: error)
    }
  }

  private static func bind(
    tcp bootstrap: ServerBootstrap, _ host: String, _ port: Int
  ) async throws -> any Channel {
    try await bootstrap
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      // What is not sent yet can still be merged, as long as the kernel does not have it.
      .childChannelOption(
        .tcpOption(NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT)), value: 16 << 10
      )
      // A peer that is gone without a word is noticed within a minute and a half.
      .childChannelOption(.socketOption(.so_keepalive), value: 1)
      .childChannelOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPIDLE)), value: 60)
      .childChannelOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPINTVL)), value: 10)
      .childChannelOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPCNT)), value: 3)
      .bind(host: host, port: port).get()
  }

  /// Looks after silent peers while the server runs.
  private static func sweep(
    _ loop: any EventLoop, _ shard: Shard, _ registry: NIOLoopBoundBox<ConnectionRegistry>
  ) {
    loop.execute {
      // It ends with the loop.
      loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
        registry.value.sweep()
        shard.assumeIsolated { shard in shard.turn { shard.expireSessions() } }
      }
    }
  }

  private static func reason(for error: any Error) -> String {
    (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
  }
}
