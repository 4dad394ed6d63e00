// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireJSON

/// A set of named stores, and the participants that use them.
///
/// A store whose name is that of a kind is opened on first use; stores with other names are opened
/// with `open`. Inputs of one session are folded in the order of arrival; sessions are independent
/// of each other. A session without a handle ends with its only participant. A session with a
/// handle outlives its connections.
public final class Session {
  /// The handle; nil for a session that ends with its participant.
  public internal(set) var handle: SessionHandle? {
    get { account.handle }
    set { account.handle = newValue }
  }
  /// The identity that has opened the session; nil if there are no identities.
  var owner: String?
  /// The time at which the session expires; nil while a client is attached.
  var expiry: SessionExpiry?
  /// The time on the clock of the shard at which the session expires; nil while a client is attached.
  ///
  /// - Units: the shard's `uptime`.
  var deadline: Duration? { expiry?.deadline }
  /// The time at which the session was opened or loaded.
  ///
  /// - Units: the shard's `uptime`.
  let opened: Duration
  /// The participants, in the order in which they attached.
  var participants = SmallCollection<Participant>()
  /// True after the session has ended.
  public internal(set) var isEnded = false
  private(set) var phase = LifecyclePhase.active
  /// The opening that `SessionError.unprepared` is about. Indirect, because it is large and few
  /// sessions have one.
  private indirect enum Unprepared {
    case none
    case opening(StoreOpening)
  }
  private var unprepared = Unprepared.none

  /// Removes and returns the opening that must be prepared; nil if there is none.
  public func takeUnprepared() -> StoreOpening? {
    guard case .opening(let opening) = unprepared else { return nil }
    unprepared = .none
    return opening
  }

  /// The data of named frontends.
  var names: [ByteString: NamedFrontend] = [:]

  private(set) var storeEntries = SmallCollection<StoreEntry>()
  /// The shared stores that the session uses, by name; their entries are in `storeEntries` too.
  var sharedStores = ByName<SharedStore>()
  /// True if it has never had a store.
  var isEmpty: Bool { storeEntries.count == 0 }
  /// The session's entries for the journal; nil if there is no journal.
  ///
  /// It exists before the session has a handle, because the ids of operations contain the handle
  /// that the session has or will get.
  let record: SessionRecord?
  let clients: ClientTable
  /// The environment of its stores; in a shard under test each store has injected faults too.
  private let environment: StoreEnvironment
  /// The clock of the effects of its stores.
  public var clock: any StoreClock { environment.clock }
  /// The values that stores share.
  var sharedValues = SmallCollection<SharedValue>()
  /// The account of the bytes of the session.
  let account: SessionAccount
  private var tracer: Tracer?
  /// The recording of the session; nil unless a console reads it.
  public private(set) var recording: SessionRecording?

  /// Creates an empty session.
  public init(isolation shard: isolated Shard) {
    clients = shard.clients
    environment = shard.sessionEnvironment()
    opened = shard.uptime
    account = SessionAccount(maximum: shard.limits.bytesPerSession, within: shard.accounts)
    record = shard.commits.map { SessionRecord(shard.directory.newHandle(), $0) }
  }

  /// Creates a session of an earlier process, without its stores.
  init(
    handle: SessionHandle, owner: String?, phase: LifecyclePhase, isolation shard: isolated Shard
  ) {
    clients = shard.clients
    environment = shard.sessionEnvironment()
    opened = shard.uptime
    account = SessionAccount(maximum: shard.limits.bytesPerSession, within: shard.accounts)
    record = shard.commits.map { SessionRecord(handle, $0) }
    account.handle = handle
    self.owner = owner
    self.phase = phase
  }

  // Store entries and subscriptions retain each other.
  deinit { for storeEntry in ownEntries { storeEntry.removeSubscriptions() } }

  /// The store entries of stores that belong to this session alone.
  private var ownEntries: [StoreEntry] { storeEntries.filter { !isShared($0) } }

  /// Opens a store of a kind under a name.
  ///
  /// - Parameters:
  ///   - opening: The request; the name is compared by its bytes.
  ///   - viewer: The participant of the request.
  ///   - isolation: The shard of the session.
  /// - Returns: The revision of the store's state.
  /// - Throws: `SessionError`; nothing has changed then.
  public func open(
    _ opening: StoreOpening, by viewer: Viewer = .server, isolation: isolated Shard
  ) throws(SessionError) -> Revision {
    if let storeEntry = storeEntries[opening.store], !storeEntry.isClosed {
      guard ByteString(storeEntry.kind) == ByteString(opening.kind),
        storeEntry.isConfigured(as: opening.configuration)
      else { throw .otherConfiguration(opening.store) }
      return storeEntry.store.revision
    }
    return try make(opening, by: viewer, isolation).store.revision
  }

  /// Returns a new subscription to a store. A store whose name is that of a kind is opened on first
  /// use.
  ///
  /// - Parameters:
  ///   - client: The client of the subscription.
  ///   - name: The name of the store.
  ///   - opening: True if the client may open the store.
  ///   - viewer: The participant of the client.
  ///   - isolation: The shard of the session.
  /// - Throws: `SessionError`.
  public func attach(
    _ client: ClientID, to name: String, opening: Bool = true, viewer: Viewer = .server,
    isolation: isolated Shard
  ) throws(SessionError) -> Subscription {
    let storeEntry = try storeEntry(name, opening: opening, viewer: viewer, isolation: isolation)
    guard !storeEntry.isClosed else { throw .storeClosed(name) }
    return Subscription(try storeEntry.entry(for: viewer), client, viewer)
  }

  /// Closes a store and notifies its subscribers.
  ///
  /// - Throws: `SessionError.unknownStore` or `.storeClosed`.
  public func close(_ name: String, isolation: isolated Shard) throws(SessionError) {
    guard let storeEntry = storeEntries[name] else { throw .unknownStore(name) }
    guard !storeEntry.isClosed else { throw .storeClosed(name) }
    if let shared = sharedStores[name] { return leave(shared, isolation) }
    isolation.close(storeEntry.number)
    storeEntry.close()
  }

  /// Sets the phase of the session: inactive when all participants are inactive, otherwise active.
  public func take(_ phase: LifecyclePhase) {
    guard phase != self.phase else { return }
    self.phase = phase
    for storeEntry in entriesInOrder where !storeEntry.isClosed && !isShared(storeEntry) {
      storeEntry.store.take(phase)
    }
    for shared in sharedStores.values { shared.updatePhase() }
  }

  /// Sends the trace of all stores of the session to a client from now on; nil ends the trace.
  /// Shared stores are not traced.
  public func trace(_ client: ClientID?) {
    tracer = client.map { Tracer($0, clients) }
    observeStores()
  }

  /// Records all stores of the session from now on; nil ends the recording. Shared stores belong to
  /// another session.
  func record(_ recording: SessionRecording?) {
    self.recording = recording
    observeStores()
  }

  private func observeStores() {
    for storeEntry in ownEntries where !storeEntry.isClosed {
      storeEntry.observe(tracer, recording)
    }
  }

  /// Ends the trace if it is sent to a client, because the client leaves.
  func untrace(_ client: ClientID) {
    if tracer?.client == client { trace(nil) }
  }

  /// Stores the updates of all stores for reconnecting clients from now on.
  func keepHistory(maximumBytes: Int) {
    for storeEntry in ownEntries { storeEntry.keepHistory(maximumBytes: maximumBytes) }
  }

  /// Returns the store entry with a name, open or closed. A store whose name is that of a kind is
  /// opened on first use.
  func storeEntry(
    _ name: String, opening: Bool = true, viewer: Viewer = .server, isolation: isolated Shard
  ) throws(SessionError) -> StoreEntry {
    if let storeEntry = storeEntries[name] { return storeEntry }
    try checkName(name, opening: opening, isolation: isolation)
    return try make(
      StoreOpening(name, kind: name, configuration: .object([:]), of: isolation.kinds), by: viewer,
      isolation)
  }

  /// Checks that there is a store entry with a name, open or closed, or that the store can be
  /// opened.
  ///
  /// - Throws: `SessionError.unknownStore`; `.observer` if the store would have to be opened by a
  ///   participant that may not open it.
  func checkName(
    _ name: String, opening: Bool, isolation: isolated Shard
  ) throws(SessionError) {
    if storeEntries[name] != nil { return }
    guard isolation.kind(name) != nil else { throw .unknownStore(name) }
    guard opening else { throw .observer }
  }

  /// The last revision of a closed store; nil if the store is open or does not exist.
  public func revision(ofClosed name: String) -> Revision? {
    guard let storeEntry = storeEntries[name], storeEntry.isClosed else { return nil }
    return storeEntry.store.revision
  }

  /// Checks that a store with a name can be used, without opening it.
  ///
  /// - Throws: `SessionError.unknownStore` or `.storeClosed`.
  func checkUse(of name: String, isolation: isolated Shard) throws(SessionError) {
    try checkName(name, opening: true, isolation: isolation)
    if storeEntries[name]?.isClosed == true { throw .storeClosed(name) }
  }

  /// Returns the injected faults of a store.
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

  /// Ends subscriptions, because their client leaves.
  public func detach(_ subscriptions: [Subscription]) {
    for subscription in subscriptions { subscription.detach() }
  }

  /// Ends the session and closes all its stores.
  public func end(isolation: isolated Shard) {
    isEnded = true
    isolation.removeShared(of: self)
    for shared in sharedStores.values { shared.remove(self, isolation) }
    for storeEntry in ownEntries {
      if !storeEntry.isClosed { isolation.close(storeEntry.number) }
      storeEntry.removeSubscriptions()
      storeEntry.removeFromAccount()
    }
    storeEntries.removeAll()
    sharedStores.removeAll()
  }

  /// Opens the only store of a session that owns a shared store.
  func openShared(
    _ opening: StoreOpening, for owner: String, by viewer: Viewer, _ shard: isolated Shard
  ) throws(SessionError) -> StoreEntry {
    self.owner = owner
    let storeEntry = try make(opening, by: viewer, shard)
    _ = promote(owner, shard)
    return storeEntry
  }

  private func make(
    _ opening: StoreOpening, by viewer: Viewer, _ shard: isolated Shard
  ) throws(SessionError) -> StoreEntry {
    let (name, kind) = (opening.store, try opening.knownKind())
    if let refusal = kind.refusing?(.open, viewer) { throw .forbidden(refusal) }
    let old = storeEntries[name]
    if old == nil {
      guard name.utf8.count <= shard.limits.storeNameBytes else { throw .limit(.storeNameBytes) }
      guard storeEntries.count < shard.limits.storesPerSession else {
        throw .limit(.storesPerSession)
      }
    }
    // A client may have ended the session while the store was prepared.
    guard !isEnded || opening.prepared == nil else { throw .expiredSession }
    let sharing = sharing(kind, name: name)
    let isOpen =
      try sharing.map { sharing throws(SessionError) in try shard.isOpen(sharing.key) } ?? false
    if !isOpen {
      try opening.checkPrepared()
      if opening.isUnprepared {
        unprepared = .opening(opening)
        throw .unprepared
      }
    }
    if let (key, time) = sharing {
      return try share(opening, key, keptFor: time, by: viewer, shard)
    }
    joinIdentityAccount(shard)
    if let limit = account.limit(adding: 2 * opening.configuration.count) { throw .limit(limit) }
    let content: StoreEntry.Content
    do throws(JSONError) {
      // A store with the name of a closed one continues its revisions, so that no revision stands
      // for two states.
      content = try self.content(
        opening, kind, from: old.map { StoreOrigin(after: $0.store) } ?? StoreOrigin(),
        by: viewer, shard)
    } catch {
      throw .configuration(error)
    }
    let storeEntry = old ?? StoreEntry(name: name, content, account, shard.turnOutcome)
    if old != nil { storeEntry.reopen(content) }
    take(storeEntry, shard)
    return storeEntry
  }

  /// Adds a new store.
  func take(_ storeEntry: StoreEntry, _ shard: isolated Shard) {
    storeEntries.set(storeEntry)
    if handle != nil { storeEntry.keepHistory(maximumBytes: shard.limits.historyBytes) }
    journal(storeEntry)
    if tracer != nil || recording != nil { storeEntry.observe(tracer, recording) }
    if phase == .inactive { storeEntry.store.take(phase) }
  }

  /// Adds a store as it was in an earlier process.
  func take(restored storeEntry: StoreEntry) { storeEntries.set(storeEntry) }

  /// The identity to which the session belongs: the owner, or the identity of the only participant
  /// if there is no handle.
  var identity: String? {
    SharedStore.identity(of: owner) ?? participants.first?.connectedClient?.owner
  }

  /// Makes the session's account a part of the account of its identity.
  func joinIdentityAccount(_ shard: isolated Shard) {
    account.belong(to: shard.accounts.account(of: identity))
  }

  /// Creates a store.
  ///
  /// - Parameter viewer: The participant that opens it; nil if the store is restored.
  func content(
    _ opening: StoreOpening, _ kind: StoreKind, from origin: StoreOrigin, by viewer: Viewer? = nil,
    _ shard: isolated Shard
  ) throws(JSONError) -> StoreEntry.Content {
    let faults = shard.testing.map { Faults(standard: $0.settings.outside) }
    let name = opening.store
    let configuration = try shard.configuration(opening, of: kind)
    let (number, made) = try shard.open(
      kind, as: name, configuration, from: origin,
      environment: shard.environment(in: environment, faults),
      session: self, viewer: viewer ?? Viewer(identity: identity),
      prepared: try opening.prepared?.get())
    var isDurable = false
    if let record {
      isDurable = made.store.prepareRecord(
        scope: "\(record.handle)/\(name)", epoch: record.stage.epoch)
      // Weak, because the record retains the delayed work, which retains the store: a cycle.
      made.store.delayWork { [weak record] in record?.hold($0) }
    } else {
      made.store.delayWork(by: shard.turnOutcome.delayWork)
    }
    return StoreEntry.Content(
      kind: shard.served(kind.name), sharedConfiguration: configuration, number: number,
      made: made, faults: faults, isDurable: isDurable)
  }
}

extension Shard {
  /// Returns the kind with a name; nil if there is none.
  nonisolated func kind(_ name: String) -> StoreKind? { kinds.named(name) }
}
