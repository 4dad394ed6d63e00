// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
public import TransportSupport
public import Transports

/// The interface for operators and load balancers: HTTP on an address of this machine, with or without
/// tokens, or HTTPS with tokens on any address.
///
/// | path | response |
/// |---|---|
/// | `/healthz` | 200 if all event loops respond; otherwise 503 |
/// | `/readyz` | 200 if the server is ready for new clients; otherwise 503. One line has the reason. |
/// | `/metrics` | the metrics of the server, as text for Prometheus |
/// | `/console` | a page that shows the sessions, their stores and their states |
///
/// It has a thread of its own, so that it responds while a shard does not, and before the server
/// listens.
public final class AdminInterface: Sendable {
  /// The address, with the port that the system has assigned.
  public let address: ServerAddress

  private let group: MultiThreadedEventLoopGroup
  private let listener: any Channel

  /// The maximum number of connections. Each has one request, so that few are needed.
  package static let maximumConnections = 16
  /// The epoll, event and timer descriptors of a loop.
  private static let loopDescriptors = 3
  /// The number of descriptors of an interface: its loop, its listener, its connections, and a socket
  /// that is accepted before the connection is closed whose place it takes.
  package static let descriptors = loopDescriptors + 1 + maximumConnections + 1

  private init(
    _ address: ServerAddress, _ group: MultiThreadedEventLoopGroup, _ listener: any Channel
  ) {
    (self.address, self.group, self.listener) = (address, group, listener)
  }

  /// Starts the interface.
  ///
  /// - Parameters:
  ///   - host: A loopback address or `localhost`; with tokens and a certificate, any address.
  ///   - port: The port; 0 makes the system assign a free one.
  ///   - status: The status of the server.
  ///   - access: The protection by tokens and TLS; nil for none.
  ///   - console: The files of the console's page, by their paths; empty for no console.
  ///   - operations: What the console can do to the server.
  /// - Throws: `StartupError`, also if other machines could reach the address without a protection.
  public static func start(
    host: String, port: Int, _ status: ServerStatus, access: AdminAccess? = nil,
    console: [String: [UInt8]] = [:], operations: ConsoleOperations = ConsoleOperations()
  ) async throws(StartupError) -> AdminInterface {
    let asked = ServerAddress.tcp(host: host, port: port)
    guard access?.certificate != nil || isLoopback(host) else {
      throw StartupError(
        "the admin interface at \(asked) would be reachable from other machines; use 127.0.0.1 or [::1], or tokens and TLS"
      )
    }
    try SystemResources.require(descriptors: loopDescriptors + 1)
    try SystemResources.require(threads: 1)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      let loop = group.next()
      // One of each for all connections, on their loop.
      let made = try await loop.submit {
        NIOLoopBound(
          (
            connections: AdminConnections(maximum: maximumConnections),
            console: console.isEmpty ? nil : Console(console, operations, status, on: loop)
          ), eventLoop: loop)
      }.get()
      let gate = NIOLoopBoundBox.makeBoxSendingValue(
        AcceptGate(operations.logger, maximumUncounted: 2, on: loop), eventLoop: loop)
      let accept = { @Sendable (channel: any Channel) in
        channel.eventLoop.makeCompletedFuture {
          let (connections, console) = made.value
          // Its connections are few, so their first buffers need not be small; bytes that are not read
          // before the end would reset the connection.
          try channel.syncOptions?.setOption(
            .recvAllocator, value: ReceiveBuffers(isInLargeFrame: false))
          let connection = try connections.accept()
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(connection)
          if let certificate = access?.certificate {
            try pipeline.addHandler(NIOSSLServerHandler(context: certificate.context))
          }
          try pipeline.addHandler(AdminHandler(status, access, connection, console))
        }
      }
      let (address, listener) = try await ListeningSocket(at: asked)
        .accept(with: accept, on: loop, for: group, gate)
      return AdminInterface(address, group, listener)
    } catch {
      await shutDown(group)
      throw error as? StartupError
        ?? StartupError("cannot listen on \(asked): \(error)", cause: error)
    }
  }

  /// Stops listening, and ends the thread.
  public func stop() async {
    try? await listener.close()
    await Self.shutDown(group)
  }

  private static func shutDown(_ group: MultiThreadedEventLoopGroup) async {
    await withUnsafeContinuation { continuation in
      let queue = DispatchQueue(label: "statewire.admin.end")
      group.shutdownGracefully(queue: queue) { _ in continuation.resume() }
    }
  }

  private static func isLoopback(_ host: String) -> Bool {
    Authority(host.contains(":") ? "[\(host)]" : host)?.isLoopback ?? false
  }
}
