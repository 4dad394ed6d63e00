// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import NIOSSL
internal import ServerCore

/// The connections of one event loop.
final class ConnectionRegistry {
  let settings: ServerSettings
  private var handlers: [ObjectIdentifier: ConnectionHandler] = [:] {
    didSet { connectionCount = handlers.count + relayed.count }
  }
  /// The connections whose channels are on other loops.
  private var relayed: [ObjectIdentifier: RelayEnd] = [:] {
    didSet { connectionCount = handlers.count + relayed.count }
  }
  private var connectionCount = 0
  private var pending: [ObjectIdentifier: any PendingClient] = [:]
  private var silent = SilentQueue<ObjectIdentifier>()
  private var whenEmpty: [EventLoopPromise<Void>] = []
  private let loop: any EventLoop
  /// The metrics of the shard.
  private let shardMetrics: ShardMetrics
  /// The metrics of the connections.
  let metrics: ConnectionMetrics
  /// While the server ends: the HTTP clients that are sent the rest of a response.
  private var finishing: Set<ObjectIdentifier> = []
  /// While the server ends: the connections with open requests.
  private var withOpenRequests: Set<ObjectIdentifier> = []
  /// The coalescer of all connections' writes.
  let writeCoalescer: WriteCoalescer
  /// The coalescer of updates for passive subscribers.
  let broadcastCoalescer: BroadcastCoalescer
  /// The queue in which connections wait for other clients; nil before the server serves.
  var yieldQueue: YieldQueue?

  /// The numbers of connections of the server.
  let counts: ConnectionCounts
  /// The links to other nodes; nil if this is the only node.
  var nodes: NodeLinks?
  /// The other loops of the server.
  var otherLoops: [ServingLoop] = []
  /// At most as many as the names of tokens.
  private var identityTimes: [Identity: IdentityTime] = [:]

  /// - Parameters:
  ///   - settings: The limits and the log.
  ///   - shard: The shard of all connections; it outlives them.
  ///   - loop: The event loop of all connections.
  ///   - counts: The numbers of connections of the server; nil if it has no other loop.
  ///   - metrics: The metrics of the connections.
  init(
    _ settings: ServerSettings, of shard: Shard, on loop: any EventLoop,
    _ counts: ConnectionCounts? = nil, _ metrics: ConnectionMetrics = ConnectionMetrics()
  ) {
    self.settings = settings
    self.counts = counts ?? ConnectionCounts(settings)
    self.loop = loop
    shardMetrics = shard.metrics
    self.metrics = metrics
    let channelLoop = ChannelLoop(loop)
    writeCoalescer = WriteCoalescer(
      channelLoop,
      writing: { [unowned shard] body in
        // because it is called immediately, on the loop that the shard's jobs run on.
        nonisolated(unsafe) let body = body
        shard.assumeIsolated { $0.turnOutcome.writing(body) }
      }, now: settings.now)
    broadcastCoalescer = BroadcastCoalescer(
      channelLoop, after: writeCoalescer,
      turn: { [unowned shard] body in
        // because it is called immediately, on the loop that the shard's jobs run on.
        nonisolated(unsafe) let body = body
        shard.assumeIsolated { $0.turn(body) }
      },
      whenDelivered: { [unowned shard] body in
        // because it is called on the loop that the shard's jobs run on, when the turn is over.
        nonisolated(unsafe) let body = body
        shard.assumeIsolated { $0.turnOutcome.whenDelivered(body) }
      })
  }

  /// Makes the shard hold updates of passive subscribers, and send held ones first in a turn that
  /// hides what was shown before.
  func configure(_ shard: isolated Shard) {
    // Under test, updates must not depend on time.
    if shard.testing == nil {
      shard.turnOutcome.sendOrDelay = { [broadcastCoalescer] in broadcastCoalescer.hold($0) }
    }
    shard.turnOutcome.whenRedacted = { [broadcastCoalescer] in broadcastCoalescer.sendBeforeOthers()
    }
  }

  /// True if the shard has a single connection.
  var hasOneConnection: Bool { connectionCount == 1 }

  func add(_ handler: ConnectionHandler) {
    let id = ObjectIdentifier(handler)
    handlers[id] = handler
    handler.metrics.opened()
    if let since = handler.silentSince { markSilent(id, since: since) }
  }

  func remove(_ handler: ConnectionHandler) {
    if handlers.removeValue(forKey: ObjectIdentifier(handler)) != nil { handler.metrics.closed() }
    sentLastResponse(handler)
    if handlers.isEmpty, relayed.isEmpty { broadcastCoalescer.abandon() }
    completeIfEmpty()
  }

  private func completeIfEmpty() {
    guard handlers.isEmpty, finishing.isEmpty else { return }
    for promise in whenEmpty { promise.succeed() }
    whenEmpty.removeAll()
  }

  func add(_ end: RelayEnd) { relayed[ObjectIdentifier(end)] = end }

  func remove(_ end: RelayEnd) {
    relayed[ObjectIdentifier(end)] = nil
    if relayed.isEmpty, handlers.isEmpty { broadcastCoalescer.abandon() }
  }

  func add(_ client: any PendingClient) {
    let id = ObjectIdentifier(client)
    pending[id] = client
    markSilent(id, since: client.since)
  }

  func remove(_ client: any PendingClient) {
    pending[ObjectIdentifier(client)] = nil
    if finishing.remove(ObjectIdentifier(client)) != nil { completeIfEmpty() }
  }

  /// Ends all connections after their open requests, and HTTP clients after their responses.
  /// Connections without open requests end last: they may still receive updates that the requests of
  /// other clients cause.
  /// - Parameter promise: Succeeds when the last connection is closed.
  func finishAll(_ promise: EventLoopPromise<Void>) {
    whenEmpty.append(promise)
    let unfinished = pending.filter { $0.value.hasUnsentResponse }
    finishing = Set(unfinished.keys)
    for (id, client) in pending {
      if unfinished[id] == nil { client.abandon() } else { client.finish() }
    }
    completeIfEmpty()
    withOpenRequests = Set(handlers.filter { $0.value.hasOpenResponses }.keys)
    guard !withOpenRequests.isEmpty else { return finishRemaining() }
    for (id, handler) in handlers {
      if withOpenRequests.contains(id) { handler.finish() } else { handler.linger() }
    }
    let registry = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleTask(in: TimeAmount(ConnectionTimes.openRequests)) {
      registry.value.finishRemaining()
    }
  }

  /// Records that a connection has sent its last response.
  func sentLastResponse(_ handler: ConnectionHandler) {
    guard withOpenRequests.remove(ObjectIdentifier(handler)) != nil, withOpenRequests.isEmpty else {
      return
    }
    let registry = NIOLoopBound(self, eventLoop: loop)
    // Not in a turn of that connection.
    loop.execute { registry.value.finishRemaining() }
  }

  private func finishRemaining() {
    for (id, handler) in handlers where !withOpenRequests.contains(id) && !handler.isClosing {
      handler.finish()
    }
  }

  /// Closes all connections immediately and drops their unsent bytes.
  func abandonAll() {
    broadcastCoalescer.sendNow()
    // A client that has everything may still keep its direction open.
    let unsent =
      handlers.values.count { !$0.isClosing || $0.bufferedBytes > 0 }
      + pending.values.count { $0.hasUnsentResponse }
    if unsent > 0 { settings.logCutOff(connections: unsent) }
    for client in pending.values { client.abandon() }
    for handler in handlers.values { handler.abandon() }
  }
}

// MARK: - Limits of connections

extension ConnectionRegistry {
  /// Counts a channel until it closes, also during its TLS handshake.
  ///
  /// - Parameter given: A reason to refuse it, if one is known already.
  /// - Returns: The reason to refuse it; nil if it is served.
  /// - Throws: `TooManyRefused` if it is closed without a reason.
  func enter(
    _ channel: any Channel, refusing given: Refusal? = nil
  ) throws(TooManyRefused) -> Refusal? {
    let id = ObjectIdentifier(channel)
    if let refusal = given ?? counts.enter(ClientAddress(channel.remoteAddress), id) {
      shardMetrics.count(refusal.error)
      guard counts.enterRefused() else { throw TooManyRefused() }
      channel.closeFuture.whenComplete { [counts] _ in counts.refusedConnectionHasClosed() }
      return refusal
    }
    channel.closeFuture.whenComplete { [counts] _ in counts.leave(id) }
    return nil
  }

  /// Closes the connection of this loop that has been silent for longest, if few places are left for
  /// new clients. If this loop has none, the other loops are asked, one after another.
  ///
  /// - Returns: A future that completes when a place is left for each client that is being accepted,
  ///   or nothing was found that could be closed.
  func makeRoom() -> EventLoopFuture<Void> {
    let done = loop.makeSucceededVoidFuture()
    guard counts.isNearlyFull, !closeOldestSilent() else { return done }
    let asked = otherLoops.reduce(loop.makeSucceededFuture(false)) { before, other in
      before.flatMap { [loop] hasClosed in
        if hasClosed { return loop.makeSucceededFuture(true) }
        let closed = other.loop.submit { other.registry.value.closeOldestSilent() }
        // It fails if the loop has ended.
        return closed.recover { _ in false }.hop(to: loop)
      }
    }
    return counts.hasPlaces(for: AcceptGate.usualUncounted) ? done : asked.map { _ in }
  }

  /// - Returns: True if a connection was closed; false if no connection of this loop is silent, or
  ///   the first bytes of those that are silent for longest have arrived.
  private func closeOldestSilent() -> Bool {
    guard let id = silent.takeOldest({ silentSince($0) }, keeping: { isArriving($0) }) else {
      return false
    }
    counts.silentConnectionIsClosed()
    let channel = handlers[id]?.context?.channel ?? pending[id]?.channel
    if let channel { counts.leave(ObjectIdentifier(channel)) }
    handlers[id]?.abandon()
    pending[id]?.abandon()
    // Its place is free now, so its socket must not wait for the end of TLS.
    let tls = try? channel?.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
    tls?.close(promise: nil)
    return true
  }

  private func isArriving(_ id: ObjectIdentifier) -> Bool {
    handlers[id]?.isArriving ?? pending[id]?.isArriving ?? false
  }

  private func markSilent(_ id: ObjectIdentifier, since now: ContinuousClock.Instant) {
    silent.append(id, since: now, of: handlers.count + pending.count) { silentSince($0) }
  }

  private func silentSince(_ id: ObjectIdentifier) -> ContinuousClock.Instant? {
    handlers[id]?.silentSince ?? pending[id]?.since
  }

  /// The loop time of all connections of an identity.
  func time(of identity: Identity) -> IdentityTime {
    if let time = identityTimes[identity] { return time }
    let time = IdentityTime(of: identity, since: settings.now())
    identityTimes[identity] = time
    return time
  }
}

/// The number of refused connections that wait to be closed has reached its limit
/// (`refusedConnections`).
struct TooManyRefused: Error {}

// MARK: - Sweeps

extension ConnectionRegistry {
  /// Checks the time limits of all clients. One timer for all keeps the cost of thousands of
  /// clients low.
  func sweep() {
    let now = settings.now()
    // The sweep counts as part of the pass: if it takes long, its consequences wait for clients.
    writeCoalescer.willServe(0)
    for client in pending.values { client.sweep(now) }
    for handler in handlers.values { handler.sweep(now) }
    for end in relayed.values { end.refresh() }
    nodes?.check()
  }

  /// Prepares the WebSockets for a close with the reason "service restart", because other nodes may
  /// own the sessions of this node and its clients are disconnected.
  func sessionsAreLost() {
    for handler in handlers.values { handler.webSocket?.serverEnds(.serviceRestart) }
  }

  /// Notifies all connections that the session database has not responded for too long.
  func databaseIsGone(isLong: Bool) {
    for handler in Array(handlers.values) { handler.notify(.databaseIsGone(isLong: isLong)) }
  }

  /// Notifies all connections that the server's tokens have been replaced.
  func credentialsChanged() {
    for handler in handlers.values { handler.credentialsChanged() }
  }
}
