// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import ServerCore

/// The connections of one event loop, and who has how many.
final class ConnectionRegistry {
  private let settings: ServerSettings
  private var handlers: [ObjectIdentifier: ConnectionHandler] = [:]
  private var pending: [ObjectIdentifier: any PendingClient] = [:]
  private var silent = SilentQueue<ObjectIdentifier>()
  private var whenEmpty: [EventLoopPromise<Void>] = []
  private let loop: any EventLoop
  /// While the server ends: those whose peers have yet to be answered.
  private var answering: Set<ObjectIdentifier> = []
  /// What the connections send together.
  let writeCoalescer: WriteCoalescer
  /// What they send to those who look on.
  let broadcastCoalescer: BroadcastCoalescer
  /// Who lets others be heard; there as long as anybody is served.
  var yieldQueue: YieldQueue?

  private var channels = 0
  /// How many of the channels that are not served have yet to be closed.
  private var refused = 0
  /// When the log was last told that there are as many connections as there may be, and that silent ones are closed.
  private var loggedFull: ContinuousClock.Instant?
  private var loggedRoom: ContinuousClock.Instant?
  private var channelsOfAddress: [ClientAddress: Int] = [:]
  private var connectionsOfIdentity: [Identity: Int] = [:]
  /// As many as there are names of tokens, at most.
  private var identityTimes: [Identity: IdentityTime] = [:]

  /// - Parameters:
  ///   - shard: What they are connections of, as long as there are any.
  ///   - loop: Where all of them are.
  init(_ settings: ServerSettings, of shard: Shard, on loop: any EventLoop) {
    self.settings = settings
    self.loop = loop
    let channelLoop = ChannelLoop(loop)
    writeCoalescer = WriteCoalescer(
      channelLoop,
      writing: { [unowned shard] body in
        // because it is called here and now, on the loop that the shard's jobs run on.
        nonisolated(unsafe) let body = body
        shard.assumeIsolated { $0.turnOutcome.writing(body) }
      }, now: settings.now)
    broadcastCoalescer = BroadcastCoalescer(
      channelLoop, after: writeCoalescer,
      turn: { [unowned shard] body in
        // because it is called here and now, on the loop that the shard's jobs run on.
        nonisolated(unsafe) let body = body
        shard.assumeIsolated { $0.turn(body) }
      },
      whenDelivered: { [unowned shard] body in
        // because it is called on the loop that the shard's jobs run on, when the turn is over.
        nonisolated(unsafe) let body = body
        shard.assumeIsolated { $0.turnOutcome.whenDelivered(body) }
      })
  }

  /// Holds back what those get who look on, but nothing of a turn of the shard that hides what was shown
  /// before.
  func attend(to shard: isolated Shard) {
    // Under test updates do not depend on time.
    if shard.testing == nil {
      shard.turnOutcome.sendOrDelay = { [broadcastCoalescer] in broadcastCoalescer.hold($0) }
    }
    shard.turnOutcome.whenRedacted = { [broadcastCoalescer] in broadcastCoalescer.sendBeforeOthers()
    }
  }

  var hasOneConnection: Bool { handlers.count == 1 }

  func add(_ handler: ConnectionHandler) {
    let id = ObjectIdentifier(handler)
    handlers[id] = handler
    if let since = handler.silentSince { fallsSilent(id, since: since) }
  }

  func remove(_ handler: ConnectionHandler) {
    handlers[ObjectIdentifier(handler)] = nil
    hasAnswered(handler)
    guard handlers.isEmpty else { return }
    broadcastCoalescer.abandon()
    for promise in whenEmpty { promise.succeed() }
    whenEmpty.removeAll()
  }

  func add(_ peer: any PendingClient) {
    let id = ObjectIdentifier(peer)
    pending[id] = peer
    fallsSilent(id, since: peer.since)
  }

  func remove(_ peer: any PendingClient) { pending[ObjectIdentifier(peer)] = nil }

  /// Lets every connection finish what it has been asked for. Those whose peers wait for nothing come last:
  /// they may look on at what the others have asked for.
  /// - Parameter promise: Succeeds when the last one is gone.
  func finishAll(_ promise: EventLoopPromise<Void>) {
    for peer in pending.values { peer.abandon() }
    if handlers.isEmpty { return promise.succeed() }
    whenEmpty.append(promise)
    answering = Set(handlers.filter { $0.value.hasOpenResponses }.keys)
    guard !answering.isEmpty else { return finishOthers() }
    for (id, handler) in handlers {
      if answering.contains(id) { handler.finish() } else { handler.linger() }
    }
    let registry = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleTask(in: ConnectionHandler.timeForOpenAnswers) { registry.value.finishOthers() }
  }

  /// A connection has told its peer all that it will.
  func hasAnswered(_ handler: ConnectionHandler) {
    guard answering.remove(ObjectIdentifier(handler)) != nil, answering.isEmpty else { return }
    let registry = NIOLoopBound(self, eventLoop: loop)
    // In no turn of that one's.
    loop.execute { registry.value.finishOthers() }
  }

  private func finishOthers() {
    for (id, handler) in handlers where !answering.contains(id) && !handler.isClosing {
      handler.finish()
    }
  }

  /// Ends all connections, whatever they have still to send.
  func abandonAll() {
    broadcastCoalescer.sendNow()
    for peer in pending.values { peer.abandon() }
    for handler in handlers.values { handler.abandon() }
  }
}

// MARK: - Who has how many

extension ConnectionRegistry {
  /// Takes note of a channel until it closes, one in its handshake too.
  ///
  /// - Parameter given: Why it is not served, if that is known.
  /// - Returns: Why it is not served.
  /// - Throws: `TooManyRefused`, where it is to be closed without a reason.
  func enter(
    _ channel: any Channel, refusing given: Refusal? = nil
  ) throws(TooManyRefused) -> Refusal? {
    let address = ClientAddress(channel.remoteAddress)
    let registry = NIOLoopBound(self, eventLoop: channel.eventLoop)
    if let refusal = given ?? refusal(for: address) {
      guard refused < settings.limits.refusedConnections else { throw TooManyRefused() }
      refused += 1
      channel.closeFuture.whenComplete { _ in registry.value.refused -= 1 }
      return refusal
    }
    if let address { channelsOfAddress[address, default: 0] += 1 }
    channels += 1
    channel.closeFuture.whenComplete { _ in registry.value.leave(address) }
    return nil
  }

  /// Closes the connection that has been silent for longest, so that clients that come to use the server find room.
  ///
  /// Before all places are taken: a place is free only once the loop has come round, and several clients may come before.
  private func makeRoom() {
    let spare = min(16, settings.limits.connections / 4)
    guard channels + spare >= settings.limits.connections else { return }
    for id in silent.takeOldest(1, { silentSince($0) }) {
      if isDue(&loggedRoom) {
        settings.logger.info("connections that had sent nothing are closed to make room")
      }
      handlers[id]?.abandon()
      pending[id]?.abandon()
    }
  }

  /// Returns true once a minute: what many clients cause is one line of the log.
  private func isDue(_ last: inout ContinuousClock.Instant?) -> Bool {
    let now = settings.now()
    if let last, now - last < .seconds(60) { return false }
    last = now
    return true
  }

  private func fallsSilent(_ id: ObjectIdentifier, since now: ContinuousClock.Instant) {
    silent.append(id, since: now, of: handlers.count + pending.count) { silentSince($0) }
  }

  private func silentSince(_ id: ObjectIdentifier) -> ContinuousClock.Instant? {
    handlers[id]?.silentSince ?? pending[id]?.since
  }

  private func refusal(for address: ClientAddress?) -> Refusal? {
    makeRoom()
    guard channels < settings.limits.connections else {
      if isDue(&loggedFull) {
        settings.logger.warning(
          "\(channels) connections are open, as many as there may be; new ones are refused")
      }
      return .connections
    }
    guard let address else { return nil }
    let limit = settings.limits.connectionsPerAddress(isLoopback: address.isLoopback)
    return channelsOfAddress[address, default: 0] < limit ? nil : .connectionsPerAddress
  }

  private func leave(_ address: ClientAddress?) {
    channels -= 1
    if let address { channelsOfAddress.countDown(address) }
  }

  /// - Returns: False, and nothing is noted, if the identity has as many connections as it may.
  func admit(_ identity: Identity) -> Bool {
    let count = connectionsOfIdentity[identity, default: 0]
    guard count < settings.limits.connectionsOfOneIdentity else { return false }
    connectionsOfIdentity[identity] = count + 1
    return true
  }

  /// The time that all connections of an identity take of this loop.
  func time(of identity: Identity) -> IdentityTime {
    if let time = identityTimes[identity] { return time }
    let time = IdentityTime(since: settings.now())
    identityTimes[identity] = time
    return time
  }

  /// One connection of an identity is gone.
  func dismiss(_ identity: Identity) { connectionsOfIdentity.countDown(identity) }
}

/// The limit of connections that are told why they are refused is reached.
struct TooManyRefused: Error {}

extension Dictionary where Value == Int {
  /// One less; what has come to nothing takes no room.
  fileprivate mutating func countDown(_ key: Key) {
    guard let count = self[key] else { return }
    self[key] = count > 1 ? count - 1 : nil
  }
}

// MARK: - What comes with time

extension ConnectionRegistry {
  /// Looks who has said or read nothing for too long: one timer for all, since thousands of peers
  /// are to cost little each.
  func sweep() {
    let now = settings.now()
    // It counts as part of the pass: what follows from it waits for clients if it is long.
    writeCoalescer.willServe(0)
    for peer in pending.values { peer.sweep(now) }
    for handler in handlers.values { handler.sweep(now) }
  }

  /// The tokens of the server have been replaced.
  func credentialsChanged() {
    for handler in handlers.values { handler.credentialsChanged() }
  }
}
