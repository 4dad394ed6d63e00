// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireJSON
public import StatewireProtocol

/// A frontend's seat in a session: who it is there, what it may do, and the stores that it holds.
///
/// A frontend has one seat at a time. A new connection sits in a session of its own.
public final class Participant {
  /// The session that it sits in.
  public let session: Session
  /// The frontend's name; nil if it has none.
  public var name: String? { named?.name }
  /// What it may do.
  public internal(set) var role: FrontendRole
  /// Whether somebody looks at it.
  public private(set) var phase = LifecyclePhase.active

  /// The address of its client.
  public let client: ClientID
  var named: NamedFrontend?
  /// The lowest sequence that was refused for the moment and has not come again.
  public internal(set) var refused: Int?
  /// What it holds on to, in the order of first use.
  private var subscriptions = Few<Subscription>()

  /// A client alone in a new session, which ends with it.
  public convenience init(_ client: ClientID, isolation shard: isolated Shard) {
    self.init(client, alone: Session(isolation: shard))
  }

  /// A client alone in a session that no other is in.
  public convenience init(_ client: ClientID, alone session: Session) {
    self.init(client, session, named: nil, role: .driver)
    session.members.append(self)
  }

  init(_ client: ClientID, _ session: Session, named: NamedFrontend?, role: FrontendRole) {
    self.client = client
    self.session = session
    self.named = named
    self.role = role
  }

  /// What takes the messages for the client; nil if it is gone.
  var receiver: (any Client)? { session.clients[client] }
}

// MARK: - Stores

extension Participant {
  /// The hold on a store; made on first use.
  ///
  /// - Parameters:
  ///   - name: The store's name, as it stands in a request.
  ///   - shard: The shard that the session lives on.
  public func subscription(
    _ name: JSONKey, isolation shard: isolated Shard
  ) throws(SessionError) -> Subscription {
    // Few stores are in use at a time, so comparing bytes beats making a string to look up.
    if let index = subscriptions.firstIndex(where: { name.isSame(as: $0.name) }) {
      let subscription = subscriptions[index]
      if !subscription.isClosed { return subscription }
      subscriptions.remove(at: index)
    }
    return try subscription(name.string, isolation: shard)
  }

  /// The hold on a store that has been used before, by its name; nil if there is none.
  public func held(_ name: ByteString) -> Subscription? {
    subscriptions.first { !$0.isClosed && ByteString($0.name) == name }
  }

  /// The hold on a store; made on first use.
  public func subscription(
    _ name: String, isolation shard: isolated Shard
  ) throws(SessionError) -> Subscription {
    guard !session.isEnded else { throw .expiredSession }
    while let closed = subscriptions.firstIndex(where: \.isClosed) {
      subscriptions.remove(at: closed)
    }
    if let subscription = held(ByteString(name)) { return subscription }
    let subscription = try session.attach(
      client, to: name, opening: role == .driver, isolation: shard)
    subscriptions.append(subscription)
    return subscription
  }

  /// Tells it of a store's changes no more; a store that it does not hold is not opened for that.
  public func unsubscribe(
    from name: String, isolation shard: isolated Shard
  ) throws(SessionError) {
    guard !session.isEnded else { throw .expiredSession }
    if let subscription = held(ByteString(name)) { return subscription.unsubscribe() }
    try session.checkUse(of: name, isolation: shard)
  }

  /// Makes sure that it may change something.
  /// - Throws: `SessionError.observer` or `.expiredSession`.
  public func checkDriver() throws(SessionError) {
    guard !session.isEnded else { throw .expiredSession }
    guard role == .driver else { throw .observer }
  }

  /// Unsubscribes from all stores. What was applied of its requests stays known.
  func unsubscribeAll() { subscriptions.visit { $0.unsubscribe() } }

  /// Lets go of all stores.
  func letGo() {
    session.detach(Array(subscriptions))
    subscriptions.removeAll()
  }
}

// MARK: - Phases

extension Participant {
  /// Somebody looks at the frontend, or nobody does any more.
  public func take(_ phase: LifecyclePhase) {
    self.phase = phase
    session.membersChanged()
  }
}

// MARK: - Sequences

extension Participant {
  /// Whether an input of a sequence has been accepted before.
  ///
  /// - Parameter sequence: At least 1; counts the inputs of the frontend, whatever its connection.
  /// - Throws: `SessionError.nameless`.
  public func hasAccepted(_ sequence: Int) throws(SessionError) -> Bool {
    guard let named else { throw .nameless }
    return named.hasAccepted(sequence)
  }

  /// An input was refused that may be taken later: those that come after it wait for it.
  public func refusedForNow(_ sequence: Int) {
    if named != nil { refused = min(refused ?? sequence, sequence) }
  }

  /// Remembers that an input was refused for good: its response may be lost, and it comes again then.
  public func refusedForGood(_ sequence: Int, _ error: RPCError) {
    named?.refused(sequence, error)
  }

  /// Returns the error with which an input of a sequence that is not accepted any more was refused.
  public func refusal(of sequence: Int) -> RPCError? { named?.refusal(of: sequence) }

  /// Returns why an effect has refused the input of a sequence after it was accepted; nil if none has.
  public func lateRefusal(of sequence: Int) -> InputRefusal? { named?.lateRefusal(of: sequence) }

  /// Makes sure that no input that comes before one was refused for the moment, and has not come again.
  ///
  /// - Throws: `SessionError.outOfOrder`.
  public func checkOrder(_ sequence: Int) throws(SessionError) {
    if let refused, sequence > refused { throw .outOfOrder(refused) }
  }

  /// An input has come that is not refused for the moment.
  public func came(_ sequence: Int) {
    if sequence == refused { refused = nil }
  }

  /// An input has been accepted.
  public func accepted(_ sequence: Int, _ receipt: SendResult, _ subscription: Subscription) {
    guard let named else { return }
    named.accepted(sequence, receipt, subscription.storeEntry)
    session.accepted(sequence, of: named, receipt, subscription.storeEntry)
  }

  /// The input that was accepted with a sequence; nil once all its effects have ended.
  public func running(_ sequence: Int, _ subscription: Subscription) -> InputID? {
    named?.running(sequence, subscription.storeEntry)
  }
}
