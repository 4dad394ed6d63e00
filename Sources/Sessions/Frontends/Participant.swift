// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireJSON
public import StatewireProtocol

/// A frontend's seat in a session: who it is there, what it may do, and the stores that it holds.
///
/// A frontend has one seat at a time. A new connection sits in a session of its own.
public final class Member {
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
  private var attachments = Few<Attachment>()

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

extension Member {
  /// The hold on a store; made on first use.
  ///
  /// - Parameters:
  ///   - name: The store's name, as it stands in a request.
  ///   - shard: The shard that the session lives on.
  public func attachment(
    _ name: JSONKey, isolation shard: isolated Shard
  ) throws(SessionError) -> Attachment {
    // Few stores are in use at a time, so comparing bytes beats making a string to look up.
    if let index = attachments.firstIndex(where: { name.isSame(as: $0.name) }) {
      let attachment = attachments[index]
      if !attachment.isClosed { return attachment }
      attachments.remove(at: index)
    }
    return try attachment(name.string, isolation: shard)
  }

  /// The hold on a store that has been used before, by its name; nil if there is none.
  public func held(_ name: ByteString) -> Attachment? {
    attachments.first { !$0.isClosed && ByteString($0.name) == name }
  }

  /// The hold on a store; made on first use.
  public func attachment(
    _ name: String, isolation shard: isolated Shard
  ) throws(SessionError) -> Attachment {
    guard !session.isEnded else { throw .expiredSession }
    while let closed = attachments.firstIndex(where: \.isClosed) { attachments.remove(at: closed) }
    if let attachment = held(ByteString(name)) { return attachment }
    let attachment = try session.attach(
      client, to: name, opening: role == .driver, isolation: shard)
    attachments.append(attachment)
    return attachment
  }

  /// Tells it of a store's changes no more; a store that it does not hold is not opened for that.
  public func unsubscribe(
    from name: String, isolation shard: isolated Shard
  ) throws(SessionError) {
    guard !session.isEnded else { throw .expiredSession }
    if let attachment = held(ByteString(name)) { return attachment.unsubscribe() }
    try session.checkUse(of: name, isolation: shard)
  }

  /// Makes sure that it may change something.
  /// - Throws: `SessionError.observer` or `.expiredSession`.
  public func checkDriver() throws(SessionError) {
    guard !session.isEnded else { throw .expiredSession }
    guard role == .driver else { throw .observer }
  }

  /// Unsubscribes from all stores. What was applied of its requests stays known.
  func unsubscribeAll() { attachments.visit { $0.unsubscribe() } }

  /// Lets go of all stores.
  func letGo() {
    session.detach(Array(attachments))
    attachments.removeAll()
  }
}

// MARK: - Phases

extension Member {
  /// Somebody looks at the frontend, or nobody does any more.
  public func take(_ phase: LifecyclePhase) {
    self.phase = phase
    session.membersChanged()
  }
}

// MARK: - Sequences

extension Member {
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
  public func accepted(_ sequence: Int, _ receipt: Receipt, _ attachment: Attachment) {
    guard let named else { return }
    named.accepted(sequence, receipt, attachment.slot)
    session.accepted(sequence, of: named, receipt, attachment.slot)
  }

  /// The input that was accepted with a sequence; nil once all its effects have ended.
  public func running(_ sequence: Int, _ attachment: Attachment) -> Ticket? {
    named?.running(sequence, attachment.slot)
  }
}
