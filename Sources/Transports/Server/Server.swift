// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
public import ServerCore
public import Sessions

/// A running server: one event loop, one shard on it, and everything that listens.
///
/// ```swift
/// let server = try await Server.start(
///   kinds: [StoreKind("stopwatch") { Stopwatch() }], settings: settings,
///   listeners: [.tcp(host: "127.0.0.1", port: 7227)])
/// await server.untilEnded()
/// ```
public final class Server: Sendable {
  /// The actor that owns the sessions.
  public let shard: Shard

  private let group: MultiThreadedEventLoopGroup
  private let loop: any EventLoop
  private let settings: ServerSettings
  private let registry: NIOLoopBound<ConnectionRegistry>
  private let listeners: NIOLockedValueBox<[(address: ServerAddress, channel: any Channel)]>
  private let stdioEnded: EventLoopPromise<Void>
  private let ended: EventLoopPromise<Void>

  private init(
    shard: Shard, group: MultiThreadedEventLoopGroup, loop: any EventLoop,
    settings: ServerSettings, registry: NIOLoopBound<ConnectionRegistry>
  ) {
    self.shard = shard
    self.group = group
    self.loop = loop
    self.settings = settings
    self.registry = registry
    listeners = NIOLockedValueBox([])
    stdioEnded = loop.makePromise()
    ended = loop.makePromise()
  }

  /// Starts a server and everything that it listens on.
  ///
  /// - Parameters:
  ///   - kinds: The kinds of stores that frontends can open.
  ///   - listeners: Where to listen; port 0 takes a free one, see `addresses`.
  ///   - stdio: Whether to serve standard input and output as well. A server that serves nothing
  ///     else ends with its input, or with its parent.
  ///   - clock: The time that effects wait on.
  /// - Throws: `StartupError`; nothing is left running then.
  public static func start(
    kinds: [StoreKind], settings: ServerSettings, sessionLimits: SessionLimits = .init(),
    listeners: [ServerAddress], stdio: Bool = false,
    clock: any Clock<Duration> = ContinuousClock()
  ) async throws -> Server {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let shard = Shard(
      executor: loop.executor, kinds: kinds, limits: sessionLimits, clock: clock)
    let registry = try await loop.submit {
      NIOLoopBound(ConnectionRegistry(), eventLoop: loop)
    }.get()
    let server = Server(
      shard: shard, group: group, loop: loop, settings: settings, registry: registry)
    do {
      for address in listeners { try await server.listen(on: address) }
      if stdio {
        try await server.serveStandardStreams(endsServer: listeners.isEmpty)
      }
    } catch {
      await server.stop()
      throw error
    }
    return server
  }

  /// Where the server listens, with the ports it was given.
  public var addresses: [ServerAddress] {
    listeners.withLockedValue { $0.map(\.address) }
  }

  /// Returns when the server has ended: it was stopped, or it served stdio alone and that is over.
  public func untilEnded() async {
    try? await ended.futureResult.get()
  }

  /// Listens no more, lets connections finish what they were asked for, and ends.
  public func stop() async {
    let listening = listeners.withLockedValue { listeners in
      defer { listeners.removeAll() }
      return listeners
    }
    for (address, channel) in listening {
      try? await channel.close()
      if case .unix(let path) = address { unlink(path) }
    }
    let gone = loop.makePromise(of: Void.self)
    let registry = registry
    loop.execute { registry.value.finishAll(gone) }
    try? await gone.futureResult.get()
    ended.succeed()
    stdioEnded.succeed()
    try? await group.shutdownGracefully()
  }
}

// MARK: - Listening

extension Server {
  private func listen(on address: ServerAddress) async throws {
    let (shard, settings, registry) = (shard, settings, registry)
    let bootstrap = ServerBootstrap(group: loop)
      .serverChannelOption(.backlog, value: 1024)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let registry = registry.value
          let handler: any ChannelHandler =
            registry.count < settings.limits.connections
            ? ConnectionHandler(shard: shard, settings: settings, registry: registry)
            : RefusingHandler()
          try channel.pipeline.syncOperations.addHandler(handler)
        }
      }
    do {
      switch address {
      case .tcp(let host, let port):
        let channel = try await bootstrap
          .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
          .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
          .bind(host: host, port: port).get()
        let bound = ServerAddress.tcp(host: host, port: channel.localAddress?.port ?? port)
        listeners.withLockedValue { $0.append((bound, channel)) }
      case .unix(let path):
        try UnixSocketFile.makeWay(path)
        // The file must never be there with other permissions, not for a moment.
        let mask = umask(0o177)
        defer { umask(mask) }
        let channel = try await bootstrap.bind(unixDomainSocketPath: path).get()
        listeners.withLockedValue { $0.append((address, channel)) }
      }
    } catch let error as StartupError {
      throw error
    } catch {
      throw StartupError("cannot listen on \(address): \(reason(for: error))", cause: error)
    }
  }

  private func reason(for error: any Error) -> String {
    (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
  }

  private func serveStandardStreams(endsServer: Bool) async throws {
    let (shard, settings, registry) = (shard, settings, registry)
    let ended = ended
    let closed = try await StandardStreams.serve(on: loop) {
      ConnectionHandler(shard: shard, settings: settings, registry: registry.value)
    }
    guard endsServer else { return }
    closed.whenComplete { _ in ended.succeed() }
    ParentWatch.begin(on: loop, until: closed) { registry.value.finishAll(ended) }
  }
}
