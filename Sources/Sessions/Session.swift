// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireJSON

/// Stores by name, and the frontends that look at them.
///
/// A name opens by itself on first use if it is the name of a kind; other names are opened with
/// `open`. Inputs of one session are folded in arrival order; sessions know nothing of each other.
/// A session without a handle ends with its only frontend; one with a handle outlives its frontends.
public final class Session {
  /// What it is found by; nil for one that ends with its frontend.
  public internal(set) var handle: SessionHandle?
  /// The identity that has opened it; nil where there are none.
  var owner: String?
  /// When it expires, unless a frontend comes before; nil while one is attached.
  ///
  /// - Units: the shard's `uptime`.
  var deadline: Duration?
  /// The same for whoever has another clock.
  ///
  /// - Units: since 1970.
  var expiry: Duration?
  /// Whether it is over.
  public internal(set) var isEnded = false

  /// The frontends that are attached, in the order in which they came.
  var members = Few<Participant>()
  /// What is remembered of frontends with a name.
  var names: [ByteString: NamedFrontend] = [:]

  private(set) var storeEntries = ByName<StoreEntry>()
  /// True while it has never had a store.
  var isEmpty: Bool { storeEntries.count == 0 }
  /// The way to the journal; nil where there is none.
  ///
  /// From the beginning, since the handle that the session has, or would get, is part of the ids of operations.
  let record: SessionRecord?
  let clients: ClientTable
  let clock: any StoreClock
  let shared = SharedValues()
  /// The bytes that its stores hold.
  let account: SessionAccount
  private(set) var phase = LifecyclePhase.active
  private var tracer: Tracer?
  private var historyBytes: Int?

  /// An empty session.
  public init(isolation shard: isolated Shard) {
    clients = shard.clients
    clock = shard.sessionClock()
    account = SessionAccount(maximum: shard.limits.bytesPerSession, within: shard.accounts)
    record = shard.commits.map { SessionRecord(shard.directory.newHandle(), $0) }
  }

  /// A session of an earlier process, without its stores.
  init(
    handle: SessionHandle, owner: String?, phase: LifecyclePhase, isolation shard: isolated Shard
  ) {
    clients = shard.clients
    clock = shard.sessionClock()
    account = SessionAccount(maximum: shard.limits.bytesPerSession, within: shard.accounts)
    record = shard.commits.map { SessionRecord(handle, $0) }
    self.handle = handle
    self.owner = owner
    self.phase = phase
    historyBytes = shard.limits.historyBytes
  }

  // Stores and those who look at them hold each other.
  deinit { for storeEntry in storeEntries.values { storeEntry.forgetAttachments() } }

  /// Opens a store of some kind under a name.
  ///
  /// - Parameters:
  ///   - opening: The store; its name is compared by its bytes.
  ///   - isolation: The shard that the session lives on.
  /// - Returns: The revision of its state.
  /// - Throws: `SessionError`; nothing has changed then.
  public func open(
    _ opening: StoreOpening, isolation: isolated Shard
  ) throws(SessionError) -> Revision {
    if let storeEntry = storeEntries[opening.store], !storeEntry.isClosed {
      guard ByteString(storeEntry.kind) == ByteString(opening.kind),
        storeEntry.isConfigured(as: opening.configuration)
      else { throw .otherConfiguration(opening.store) }
      return storeEntry.store.revision
    }
    return try make(opening, isolation).store.revision
  }

  /// A frontend's hold on the store with a name, which opens if it is the name of a kind.
  ///
  /// - Parameters:
  ///   - client: The client of the subscription.
  ///   - name: The name of the store.
  ///   - opening: Whether the frontend may open it.
  ///   - isolation: The shard that the session lives on.
  public func attach(
    _ client: ClientID, to name: String, opening: Bool = true, isolation: isolated Shard
  ) throws(SessionError) -> Subscription {
    let storeEntry = try storeEntry(name, opening: opening, isolation: isolation)
    guard !storeEntry.isClosed else { throw .storeClosed(name) }
    return Subscription(storeEntry, client)
  }

  /// Ends a store; everybody who has subscribed to it is told.
  /// - Throws: `SessionError.unknownStore` or `.storeClosed`.
  public func close(_ name: String, isolation: isolated Shard) throws(SessionError) {
    guard let storeEntry = storeEntries[name] else { throw .unknownStore(name) }
    guard !storeEntry.isClosed else { throw .storeClosed(name) }
    isolation.close(storeEntry.number)
    storeEntry.close()
  }

  /// The session's frontends have all become inactive, or one of them active again.
  public func take(_ phase: LifecyclePhase) {
    guard phase != self.phase else { return }
    self.phase = phase
    for storeEntry in entriesInOrder where !storeEntry.isClosed { storeEntry.store.take(phase) }
  }

  /// Sends a client the trace of this session's stores from now on; nil: no client.
  public func trace(_ client: ClientID?) {
    tracer = client.map { Tracer($0, clients) }
    for storeEntry in storeEntries.values where !storeEntry.isClosed { storeEntry.trace(tracer) }
  }

  /// A frontend that may have asked for the trace has left.
  func untrace(_ client: ClientID) {
    if tracer?.client == client { trace(nil) }
  }

  /// Keeps the frames of all stores from now on.
  func keepHistory(maximumBytes: Int) {
    historyBytes = maximumBytes
    for storeEntry in storeEntries.values { storeEntry.keepHistory(maximumBytes: maximumBytes) }
  }

  /// The store with a name, open or closed, which opens if it is the name of a kind.
  func storeEntry(
    _ name: String, opening: Bool = true, isolation: isolated Shard
  ) throws(SessionError) -> StoreEntry {
    if let storeEntry = storeEntries[name] { return storeEntry }
    try checkName(name, opening: opening, isolation: isolation)
    return try make(
      StoreOpening(name, kind: name, configuration: .object([:]), of: isolation.kinds), isolation)
  }

  /// Makes sure that there is a store with a name, open or closed, or that one may open.
  ///
  /// - Throws: `SessionError.unknownStore`, or `.observer` where it would have to be opened by a
  ///   frontend that may not.
  func checkName(
    _ name: String, opening: Bool, isolation: isolated Shard
  ) throws(SessionError) {
    if storeEntries[name] != nil { return }
    guard isolation.kind(name) != nil else { throw .unknownStore(name) }
    guard opening else { throw .observer }
  }

  /// The last revision of the store with a name that is closed; nil if it is not.
  public func revision(ofClosed name: String) -> Revision? {
    guard let storeEntry = storeEntries[name], storeEntry.isClosed else { return nil }
    return storeEntry.store.revision
  }

  /// Makes sure that a store could be used under a name, and opens none.
  /// - Throws: `SessionError.unknownStore` or `.storeClosed`.
  func checkUse(of name: String, isolation: isolated Shard) throws(SessionError) {
    try checkName(name, opening: true, isolation: isolation)
    if storeEntries[name]?.isClosed == true { throw .storeClosed(name) }
  }

  /// The faults that the operations of a store meet.
  ///
  /// - Returns: Nil if the session is not under test.
  /// - Throws: `SessionError.unknownStore` or `.storeClosed`.
  public func faults(
    of name: String, isolation: isolated Shard
  ) throws(SessionError) -> Faults? {
    let storeEntry = try storeEntry(name, isolation: isolation)
    guard !storeEntry.isClosed else { throw .storeClosed(name) }
    return storeEntry.faults
  }

  /// A frontend is gone: none of these is told anything more.
  public func detach(_ subscriptions: [Subscription]) {
    for subscription in subscriptions { subscription.detach() }
  }

  /// Ends all stores.
  public func end(isolation: isolated Shard) {
    isEnded = true
    for storeEntry in storeEntries.values {
      if !storeEntry.isClosed { isolation.close(storeEntry.number) }
      storeEntry.forgetAttachments()
      storeEntry.leaveAccount()
    }
    storeEntries.removeAll()
  }

  private func make(
    _ opening: StoreOpening, _ shard: isolated Shard
  ) throws(SessionError) -> StoreEntry {
    let (name, kind) = (opening.store, try opening.knownKind())
    let old = storeEntries[name]
    if old == nil {
      guard name.utf8.count <= shard.limits.storeNameBytes else { throw .limit(.storeNameBytes) }
      guard storeEntries.count < shard.limits.storesPerSession else {
        throw .limit(.storesPerSession)
      }
    }
    belongToIdentity(shard)
    if let limit = account.limit(adding: 2 * opening.configuration.count) { throw .limit(limit) }
    let content: StoreEntry.Content
    do throws(JSONError) {
      // A name that comes back goes on counting: no revision stands for two states.
      content = try self.content(
        opening, kind, from: old.map { StoreOrigin(after: $0.store) } ?? StoreOrigin(),
        shard)
    } catch {
      throw .configuration(error)
    }
    let storeEntry = old ?? StoreEntry(name: name, content, account, shard.turnOutcome)
    if old != nil { storeEntry.reopen(content) }
    take(storeEntry)
    return storeEntry
  }

  /// Takes in a new store.
  func take(_ storeEntry: StoreEntry) {
    storeEntries[storeEntry.name] = storeEntry
    if let historyBytes { storeEntry.keepHistory(maximumBytes: historyBytes) }
    writeDown(storeEntry)
    storeEntry.trace(tracer)
    if phase == .inactive { storeEntry.store.take(phase) }
  }

  /// Takes in a store as it was in an earlier process.
  func take(restored storeEntry: StoreEntry) { storeEntries[storeEntry.name] = storeEntry }

  /// Whose session it is; one without a handle is the only frontend's.
  var identity: String? { owner ?? members.first?.receiver?.owner }

  /// What it holds is counted for its identity.
  func belongToIdentity(_ shard: isolated Shard) {
    account.belong(to: shard.accounts.account(of: identity))
  }

  /// Makes a store.
  func content(
    _ opening: StoreOpening, _ kind: StoreKind, from origin: StoreOrigin, _ shard: isolated Shard
  ) throws(JSONError) -> StoreEntry.Content {
    let faults = shard.testing.map { _ in Faults() }
    shared.identity = identity
    let name = opening.store
    let configuration = try shard.configuration(opening, of: kind)
    let (number, made) = try shard.open(
      kind, as: name, configuration, from: origin, clock: clock, faults: faults, shared: shared)
    var isDurable = false
    if let record {
      isDurable = made.store.prepareRecord(
        scope: "\(record.handle)/\(name)", epoch: record.stage.epoch)
      // Weak, since what it holds would otherwise keep it, through its store.
      made.store.holdWork { [weak record] in record?.hold($0) }
    } else {
      made.store.holdWork(by: shard.turnOutcome.holdsWork)
    }
    return StoreEntry.Content(
      kind: kind.name, sharedConfiguration: configuration, number: number,
      made: made,
      faults: faults, isDurable: isDurable)
  }
}

extension Shard {
  /// The kind with a name.
  nonisolated func kind(_ name: String) -> StoreKind? { kinds.named(name) }
}
