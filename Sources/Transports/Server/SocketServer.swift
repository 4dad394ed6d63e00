// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import ServerCore
internal import Synchronization
internal import TransportSupport

/// The backend that listens on sockets: one event loop of SwiftNIO with the shard.
final class SocketServer: ServerBackend {
  let shard: Shard
  let addresses: [ServerAddress]

  private let group: MultiThreadedEventLoopGroup
  private let loop: any EventLoop
  private let registry: NIOLoopBoundBox<ConnectionRegistry>
  private let listeners: [any Channel]
  private let files: [UnixSocketFile.Identity?]
  /// Signalled when all output was written to standard output; nil if the server does not serve it.
  private let bridged: Latch?
  // Not a promise of the loop, which would not complete after the loop has ended.
  private let ended = Latch()
  private let isStopping = Atomic(false)

  private init(
    shard: Shard, group: MultiThreadedEventLoopGroup, loop: any EventLoop,
    registry: NIOLoopBoundBox<ConnectionRegistry>,
    listeners: [(address: ServerAddress, channel: any Channel)], bridged: Latch?
  ) {
    self.shard = shard
    self.group = group
    self.loop = loop
    self.registry = registry
    self.listeners = listeners.map(\.channel)
    addresses = listeners.map(\.address)
    self.bridged = bridged
    files = listeners.map { listener in
      if case .unix(let path) = listener.address { UnixSocketFile.Identity(path) } else { nil }
    }
  }

  /// The event loop, which starts before its shard.
  struct Thread {
    fileprivate let group: MultiThreadedEventLoopGroup
    fileprivate let loop: any EventLoop
    fileprivate let executor: LoopExecutor

    /// - Throws: `StartupError` if the process has no descriptors or threads left.
    init() throws(StartupError) {
      // SwiftNIO ends the process if it cannot get them.
      try SystemResources.require(descriptors: Self.descriptors)
      try SystemResources.require(threads: 1)
      group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      loop = group.next()
      executor = LoopExecutor(loop)
    }

    /// The loop's epoll, event and timer descriptors, and the two ends of the pipe of its
    /// `YieldQueue`.
    private static let descriptors = 5

    var shard: ShardThread {
      let loop = loop
      return ShardThread(
        executor: executor, check: { loop.preconditionInEventLoop() },
        execute: { loop.execute($0) })
    }
  }

  /// Starts listening.
  ///
  /// - Parameters:
  ///   - shard: The shard to serve.
  ///   - settings: The limits of connections, the log, and the program's name in `initialize`.
  ///   - thread: The thread of the shard; it ends with the server.
  ///   - listeners: The addresses to listen on.
  ///   - certificate: The certificate for TLS; required if a listener uses TLS.
  ///   - web: The router of HTTP requests.
  ///   - stdio: True to serve standard input and output as well.
  ///   - outputFailed: Called with the reason, on any thread, if bytes of standard output are lost.
  /// - Throws: `StartupError`; nothing is left running then.
  static func start(
    _ shard: Shard, _ settings: ServerSettings, on thread: Thread, _ listeners: [ServerAddress],
    _ certificate: ServerCertificate?, _ web: WebRouter, stdio: Bool,
    outputFailed: @escaping @Sendable (String) -> Void
  ) async throws -> SocketServer {
    let group = thread.group
    let loop = thread.loop
    let registry = NIOLoopBoundBox.makeBoxSendingValue(
      ConnectionRegistry(settings, of: shard, on: loop), eventLoop: loop)
    let acceptor = Acceptor(
      shard: shard, settings: settings, registry: registry, certificate: certificate, web: web)
    var open: [(address: ServerAddress, channel: any Channel)] = []
    var bridged: Latch?
    func server() -> SocketServer {
      SocketServer(
        shard: shard, group: group, loop: loop, registry: registry, listeners: open,
        bridged: bridged)
    }
    do {
      try await YieldQueue.begin(on: loop, for: registry, thread.executor)
      try await loop.submit { shard.assumeIsolated { registry.value.configure($0) } }.get()
      // Before a client can attach to a session.
      try await shard.beginRestoring { settings.logger.warning("\($0)") }
      try await shard.journalIsRead()
      for address in listeners { open.append(try await listen(on: address, loop, acceptor)) }
      sweep(loop, shard, registry)
      if stdio {
        bridged = try await StandardBridge.begin(on: loop, outputFailed: outputFailed) {
          acceptor.accept($0)
        }
      }
      await shard.continueSessions()
    } catch {
      await server().stop()
      throw error
    }
    return server()
  }

  func untilEnded() async { await ended.wait() }

  func credentialsChanged() {
    let registry = registry
    loop.execute { registry.value.credentialsChanged() }
  }

  func stop() async {
    guard !isStopping.exchange(true, ordering: .relaxed) else {
      return await ended.wait()
    }
    for channel in listeners { try? await channel.close() }
    for (address, file) in zip(addresses, files) {
      if case .unix(let path) = address, let file { UnixSocketFile.remove(path, file) }
    }
    let (registry, shard) = (registry, shard)
    let closed = loop.makePromise(of: Void.self)
    loop.execute { registry.value.finishAll(closed) }
    loop.scheduleTask(in: TimeAmount(ShardThread.timeToFinish)) { registry.value.abandonAll() }
    try? await closed.futureResult.get()
    if let bridged {
      loop.scheduleTask(in: TimeAmount(ShardThread.timeToFinish)) { bridged.signal() }
      await bridged.wait()
    }
    // Sessions may outlive their connections. Actions that are already on the way to the loop come
    // before this; closed stores ignore them. Work that still runs delivers its end to the loop
    // later.
    try? await loop.submit { shard.assumeIsolated { $0.closeStores() } }.get()
    let drained = Latch(endOf: { await shard.drain() })
    loop.scheduleTask(in: TimeAmount(ShardThread.timeToDrain)) { drained.signal() }
    await drained.wait()
    await Self.shutDown(group)
    ended.signal()
  }
}

extension SocketServer {
  /// Ends the thread of the loop.
  private static func shutDown(_ group: MultiThreadedEventLoopGroup) async {
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
    on address: ServerAddress, _ loop: any EventLoop, _ acceptor: Acceptor
  ) async throws -> (ServerAddress, any Channel) {
    let bootstrap = ServerBootstrap(group: loop)
      .serverChannelOption(.backlog, value: backlog)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          channel.closeOnExec()
          try channel.pipeline.syncOperations.addHandler(AcceptBackoff(acceptor.settings.logger))
        }
      }
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      // One read, then the loop serves the other connections.
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(.recvAllocator, value: ReceiveBuffers())
      // Bytes that wait in the channel can no longer be coalesced.
      .childChannelOption(
        .writeBufferWaterMark,
        value: ChannelOptions.Types.WriteBufferWaterMark(low: 4 << 10, high: 16 << 10))
    do {
      switch address {
      case .tcp(let host, let port):
        let channel = try await bind(
          tcp: bootstrap.childChannelInitializer { acceptor.accept(tcp: $0) }, host, port)
        return (.tcp(host: host, port: channel.localAddress?.port ?? port), channel)
      case .tls(let host, let port):
        guard let certificate = acceptor.certificate else {
          throw StartupError("cannot listen on \(address): TLS requires a certificate")
        }
        let channel = try await bind(
          tcp: bootstrap.childChannelInitializer { acceptor.accept(tls: $0, certificate) }, host,
          port)
        return (.tls(host: host, port: channel.localAddress?.port ?? port), channel)
      case .web(let host, let port):
        let channel = try await bind(
          tcp: bootstrap.childChannelInitializer { acceptor.accept(web: $0) }, host, port)
        return (.web(host: host, port: channel.localAddress?.port ?? port), channel)
      case .secureWeb(let host, let port):
        guard let certificate = acceptor.certificate else {
          throw StartupError("cannot listen on \(address): TLS requires a certificate")
        }
        let channel = try await bind(
          tcp: bootstrap.childChannelInitializer { acceptor.accept(secureWeb: $0, certificate) },
          host, port)
        return (.secureWeb(host: host, port: channel.localAddress?.port ?? port), channel)
      case .unix(let path):
        try UnixSocketFile.removeStale(path)
        let descriptor = try UnixSocketFile.bind(path)
        let channel =
          try await bootstrap
          .childChannelInitializer { acceptor.accept(unix: $0) }
          .withBoundSocket(descriptor).get()
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

  // Number of connections that may wait to be accepted.
  private static let backlog: Int32 = 1024

  private static func bind(
    tcp bootstrap: ServerBootstrap, _ host: String, _ port: Int
  ) async throws -> any Channel {
    try await bootstrap
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      // Updates can be coalesced until the kernel has them, so it takes only 16 KiB of unsent
      // bytes.
      .childChannelOption(
        .tcpOption(NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT)), value: 16 << 10
      )
      // A client that has gone without closing is noticed after 90 seconds: 60 seconds without
      // data, then 3 probes at intervals of 10 seconds.
      .childChannelOption(.socketOption(.so_keepalive), value: 1)
      .childChannelOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPIDLE)), value: 60)
      .childChannelOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPINTVL)), value: 10)
      .childChannelOption(.tcpOption(NIOBSDSocket.Option(rawValue: TCP_KEEPCNT)), value: 3)
      .bind(host: host, port: port).get()
  }

  /// Starts the sweep of clients and sessions, once a second while the loop runs.
  private static func sweep(
    _ loop: any EventLoop, _ shard: Shard, _ registry: NIOLoopBoundBox<ConnectionRegistry>
  ) {
    loop.execute {
      // It ends with the loop.
      loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
        registry.value.sweep()
        shard.assumeIsolated { shard in
          shard.turn { shard.expireSessions() }
          shard.continueSessions()
        }
      }
    }
  }

  private static func reason(for error: any Error) -> String {
    (error as? IOError).map { systemMessage($0.errnoCode) } ?? "\(error)"
  }
}
