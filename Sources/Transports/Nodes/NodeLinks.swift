// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import ServerCore
internal import TransportSupport

/// The links of one event loop to other nodes.
final class NodeLinks {
  let settings: ServerSettings
  let shard: Shard
  private let membership: NodeMembership
  private let tls: NIOSSLContext
  private let loop: any EventLoop
  private var links: [ObjectIdentifier: NodeLinkHandler] = [:]
  private var isChecking = false
  private var lastFault: ContinuousClock.Instant?

  init(
    _ membership: NodeMembership, _ tls: NIOSSLContext, _ settings: ServerSettings,
    of shard: Shard, on loop: any EventLoop
  ) {
    (self.membership, self.tls, self.settings) = (membership, tls, settings)
    (self.shard, self.loop) = (shard, loop)
  }

  /// Connects to the node of a session.
  func connect(_ request: NodeLinkRequest, for connection: Connection) -> any NodeLink {
    let link = NodeLinkHandler(request, for: connection, of: self, on: loop)
    links[ObjectIdentifier(link)] = link
    // Not in the turn of the request.
    let bound = NIOLoopBound((self, link), eventLoop: loop)
    loop.execute {
      let (links, link) = bound.value
      links.begin(link, to: request.node)
    }
    return link
  }

  private func begin(_ link: NodeLinkHandler, to node: ClusterNode) {
    guard !link.hasEnded else { return }
    let address = ServerAddress(node.address)
    let (host, port): (String, Int)
    switch address {
    case .tcp(let name, let number), .tls(let name, let number): (host, port) = (name, number)
    case .unix, .web, .secureWeb, nil:
      return link.fail("the node \(node.name) has the unusable address \(node.address)")
    }
    let isSecure = if case .tls? = address { true } else { false }
    let bound = NIOLoopBound(link, eventLoop: loop)
    let tls = isSecure ? self.tls : nil
    let permitsOthers = isSecure || membership.isInsecure
    ClientBootstrap(group: loop)
      .connectTimeout(Self.connectTimeout)
      .channelOption(.autoRead, value: false)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .channelOption(.maxMessagesPerRead, value: 1)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelOption(.socketOption(.so_keepalive), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          channel.closeOnExec()
          if let tls {
            let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
            try channel.pipeline.syncOperations.addHandler(
              NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host))
          }
        }
      }
      .connect(host: host, port: port)
      .whenComplete { result in
        let link = bound.value
        switch result {
        case .failure: link.fail(nil)
        case .success(let channel):
          guard permitsOthers || ClientAddress(channel.remoteAddress)?.isLoopback == true else {
            channel.close(promise: nil)
            return link.fail(
              "the node \(node.name) is on another machine and has no TLS; start it with --tls-cert"
            )
          }
          do {
            try channel.pipeline.syncOperations.addHandler(link)
          } catch {
            channel.close(promise: nil)
            link.fail(nil)
          }
        }
      }
  }

  /// Logs a fault of the configuration, at most once a minute.
  func log(_ fault: String) {
    let now = settings.now()
    if let last = lastFault, now - last < .seconds(60) { return }
    lastFault = now
    settings.logger.error("\(fault)")
  }

  func remove(_ link: NodeLinkHandler) { links[ObjectIdentifier(link)] = nil }

  /// Ends the links to nodes that have lost their lease; called once a second. Such a node may only
  /// be paused, and its sockets stay open.
  func check() {
    guard !links.isEmpty, !isChecking else { return }
    isChecking = true
    let bound = NIOLoopBound(self, eventLoop: loop)
    membership.ownership.nodes { [loop] result in
      loop.execute {
        let links = bound.value
        links.isChecking = false
        guard case .success(let nodes) = result else { return }
        let living = nodes.filter { $0.leaseLeft > Self.tolerance }
        for link in Array(links.links.values)
        where !living.contains(where: { $0.name == link.node.name }) {
          link.nodeIsGone()
        }
      }
    }
  }

  private static let connectTimeout = TimeAmount.seconds(2)
  private static let tolerance = Duration.seconds(-1)
}
