// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireJSON
public import StatewireProtocol

/// A client's place in a session: its name, its role and its subscriptions.
///
/// A client has one place at a time. The client of a new connection is in a separate session.
public final class Participant {
  /// The session of the participant.
  public let session: Session
  /// The frontend's name; nil if it has none.
  public var name: String? { named?.name }
  /// The id of the client.
  public let client: ClientID
  /// The data of the frontend's name; nil if it has none.
  var named: NamedFrontend?
  /// The lowest sequence that was refused temporarily and has not been sent again; nil if there is
  /// none.
  public var refused: Int? { refusedSequences.first }
  /// The sequences that were refused temporarily and have not been sent again, in ascending order.
  private var refusedSequences: [Int] = []
  /// The subscriptions, in the order of first use.
  private var subscriptions = SmallCollection<Subscription>()
  /// The role, which determines the permitted requests.
  public internal(set) var role: FrontendRole
  /// The lifecycle phase of the frontend.
  public private(set) var phase = LifecyclePhase.active
  /// The index of the subscription that `held` has found last; it need not exist any more.
  private var lastUsed = 0
  /// The number of stores that it uses.
  var subscriptionCount: Int { subscriptions.count }

  /// Creates the only participant of a new session without a handle; the session ends when the
  /// participant leaves.
  public convenience init(_ client: ClientID, isolation shard: isolated Shard) {
    self.init(client, alone: Session(isolation: shard))
  }

  /// Creates the only participant of an existing session.
  public convenience init(_ client: ClientID, alone session: Session) {
    self.init(client, session, named: nil, role: .driver)
    session.participants.append(self)
  }

  init(_ client: ClientID, _ session: Session, named: NamedFrontend?, role: FrontendRole) {
    self.client = client
    self.session = session
    self.named = named
    self.role = role
  }

  /// The participant as machines see it.
  public var viewer: Viewer {
    let identity = connectedClient?.owner
    if identity == nil, name == nil {
      return role == .driver ? session.clients.driver : session.clients.observer
    }
    return Viewer(identity: identity, name: name, role: role == .driver ? .driver : .observer)
  }

  /// Passes a changed name or role on to the subscriptions. Those of another audience now are
  /// released: the client has not subscribed to them.
  func viewerChanged() {
    if subscriptions.count == 0 { return }
    let viewer = viewer
    for subscription in Array(subscriptions) {
      if subscription.isOfAudience(of: viewer) {
        subscription.viewer = viewer
        if subscription.format != nil { remember(subscription) }
      } else {
        subscriptions.remove(subscription)
        subscription.detach()
      }
    }
  }

  /// Checks that the client has subscribed to no store that it would see otherwise under another
  /// name.
  ///
  /// - Throws: `SessionError.forbidden`.
  func checkAudiences(named name: String) throws(SessionError) {
    if subscriptions.count == 0 { return }
    let viewer = Viewer(identity: viewer.identity, name: name, role: viewer.role)
    for subscription in Array(subscriptions) where subscription.format != nil {
      guard subscription.isOfAudience(of: viewer) else {
        throw .forbidden(
          InputRefusal(
            .value,
            "unsubscribe from \(subscription.name.quoted(upTo: 64)) first: its view depends on the name"
          ))
      }
    }
  }

  /// Records for the name of the client which view of a store it receives, so that it can resume the
  /// store later.
  public func remember(_ subscription: Subscription) {
    guard let named, let audience = subscription.storeEntry.audience else { return }
    let former = named.audiences[subscription.name]
    if former?.audience == audience { return }
    // The client may not receive this view, and still hold the former one.
    named.audiences[subscription.name] = (audience, former == nil ? nil : subscription.revision)
  }

  /// The client; nil if it has disconnected.
  var connectedClient: (any Client)? { session.clients[client] }
}

// MARK: - Stores

extension Participant {
  /// Returns the subscription to a store, created on first use.
  ///
  /// - Parameters:
  ///   - name: The store's name, as in the request.
  ///   - shard: The shard of the session.
  /// - Throws: `SessionError`.
  public func subscription(
    _ name: JSONKey, isolation shard: isolated Shard
  ) throws(SessionError) -> Subscription {
    // Few stores are in use at a time, so a comparison of bytes is faster than a lookup by a new
    // string.
    if let index = subscriptions.firstIndex(where: { name.isSame(as: $0.name) }) {
      let subscription = subscriptions[index]
      if !subscription.isClosed { return subscription }
      subscriptions.remove(at: index)
    }
    return try subscription(name.string, isolation: shard)
  }

  /// Returns the subscription to a store that has been used before; nil if there is none.
  public func existingSubscription(_ name: ByteString) -> Subscription? {
    func isWanted(_ subscription: Subscription) -> Bool {
      !subscription.isClosed && subscription.name.hasSameBytes(as: name.string)
    }
    // Usually the one that was used last.
    if lastUsed < subscriptions.count {
      let last = subscriptions[lastUsed]
      if isWanted(last) { return last }
    }
    guard let index = subscriptions.firstIndex(where: isWanted) else { return nil }
    lastUsed = index
    return subscriptions[index]
  }

  /// Returns the subscription to a store, created on first use.
  ///
  /// - Parameters:
  ///   - name: The store's name.
  ///   - shard: The shard of the session.
  /// - Throws: `SessionError`.
  public func subscription(
    _ name: String, isolation shard: isolated Shard
  ) throws(SessionError) -> Subscription {
    guard !session.isEnded else { throw .expiredSession }
    while let closed = subscriptions.firstIndex(where: \.isClosed) {
      subscriptions.remove(at: closed)
    }
    if let subscription = existingSubscription(ByteString(name)) { return subscription }
    let subscription = try session.attach(
      client, to: name, opening: role == .driver, viewer: viewer, isolation: shard)
    subscriptions.append(subscription)
    return subscription
  }

  /// Ends the updates of a store. A store that the client has not used is not opened.
  ///
  /// - Throws: `SessionError.expiredSession`, `.unknownStore` or `.storeClosed`.
  public func unsubscribe(
    from name: String, isolation shard: isolated Shard
  ) throws(SessionError) {
    guard !session.isEnded else { throw .expiredSession }
    if let subscription = existingSubscription(ByteString(name)) {
      return subscription.unsubscribe()
    }
    try session.checkUse(of: name, isolation: shard)
  }

  /// Checks that the participant may change the session.
  ///
  /// - Throws: `SessionError.observer` or `.expiredSession`.
  public func checkDriver() throws(SessionError) {
    guard !session.isEnded else { throw .expiredSession }
    guard role == .driver else { throw .observer }
  }

  /// Ends the updates of all stores; `Subscription.lastApplied` is kept.
  public func unsubscribeAll() { subscriptions.visit { $0.unsubscribe() } }

  /// Ends the subscription to a shared store that the session does not use any more, and notifies
  /// the client.
  func storeClosed(_ storeEntry: StoreEntry) {
    guard
      let index = subscriptions.firstIndex(where: {
        $0.storeEntry.parent ?? $0.storeEntry === storeEntry
      })
    else { return }
    let subscription = subscriptions[index]
    subscriptions.remove(at: index)
    subscription.storeClosed()
    subscription.detach()
  }

  /// Releases all subscriptions.
  func releaseSubscriptions() {
    session.detach(Array(subscriptions))
    subscriptions.removeAll()
  }
}

// MARK: - Phases

extension Participant {
  /// Sets the phase of the frontend and updates the phase of the session.
  public func take(_ phase: LifecyclePhase) {
    self.phase = phase
    session.participantsChanged()
  }
}

// MARK: - Sequences

extension Participant {
  /// Returns true if the input of a sequence, or a later one, has been accepted.
  ///
  /// - Parameter sequence: The number of the input, at least 1, counted across the connections of
  ///   the frontend.
  /// - Throws: `SessionError.nameless`.
  public func hasAccepted(_ sequence: Int) throws(SessionError) -> Bool {
    guard let named else { throw .nameless }
    return named.hasAccepted(sequence)
  }

  /// Records that an input was refused temporarily: later inputs wait until it has been sent again.
  ///
  /// The input keeps its place until it is sent again, and so do later ones that are refused
  /// meanwhile: each has to be sent again before the next. An input that was accepted before has no
  /// place to keep.
  public func refusedTemporarily(_ sequence: Int) {
    guard let named, !named.hasAccepted(sequence) else { return }
    let index = refusedSequences.firstIndex { $0 >= sequence } ?? refusedSequences.endIndex
    if index < refusedSequences.endIndex, refusedSequences[index] == sequence { return }
    refusedSequences.insert(sequence, at: index)
    // The client sends these again in their order, so the places of the last ones are needed last.
    if refusedSequences.count > Self.maximumRefused { refusedSequences.removeLast() }
  }

  private static var maximumRefused: Int { 1024 }

  /// Forgets which inputs were refused temporarily.
  func forgetRefused() { refusedSequences = [] }

  /// Records that an input was refused permanently, because the client sends it again if the
  /// response is lost.
  public func refusedPermanently(_ sequence: Int, _ error: RPCError) {
    named?.refused(sequence, error)
  }

  /// Returns the error with which the input of a sequence was refused permanently; nil if none is
  /// stored.
  public func refusal(of sequence: Int) -> RPCError? { named?.refusal(of: sequence) }

  /// Returns the reason for which an effect refused the input of a sequence after it was accepted;
  /// nil if there is none.
  public func lateRefusal(of sequence: Int) -> InputRefusal? { named?.lateRefusal(of: sequence) }

  /// Checks that no earlier input was refused temporarily and has not been sent again.
  ///
  /// - Throws: `SessionError.outOfOrder`.
  public func checkOrder(_ sequence: Int) throws(SessionError) {
    if let refused, sequence > refused { throw .outOfOrder(refused) }
  }

  /// Records that an input was sent that is not refused temporarily.
  public func came(_ sequence: Int) {
    if sequence == refused { refusedSequences.removeFirst() }
  }

  /// Records that an input was accepted.
  public func accepted(_ sequence: Int, _ sendResult: SendResult, _ subscription: Subscription) {
    guard let named else { return }
    named.accepted(sequence, sendResult, subscription.storeEntry)
    session.accepted(sequence, of: named, sendResult, subscription.storeEntry)
  }

  /// Returns the input that was accepted with a sequence; nil if it is settled.
  public func running(_ sequence: Int, _ subscription: Subscription) -> InputID? {
    named?.running(sequence, subscription.storeEntry)
  }
}
