// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON
internal import StatewireProtocol

/// A name in a session, its store, and the subscriptions to the store.
///
/// It converts each publication of the store to an update once, regardless of the number of
/// subscriptions.
final class StoreEntry: Named {
  let name: String
  var content: Content
  private(set) var isClosed = false
  /// True while the store is counted as an open one.
  private var isCounted = false
  /// True if the viewers have changed in this turn.
  var isPresenceDue = false
  /// The reason why no revision before `opened` is continued.
  private(set) var renewal = StoreRenewal.opened

  /// The store that has the name.
  struct Content {
    let kind: ServedKind
    /// The configuration, which stores with an equal one share; nil after the store was closed.
    let sharedConfiguration: SharedConfiguration?
    /// The configuration as JSON text.
    var configuration: [UInt8] { sharedConfiguration?.text ?? Array("{}".utf8) }
    let number: StoreNumber
    var made: StoreKind.Made
    /// The injected faults of its operations; nil if the session is not under test.
    let faults: Faults?
    /// True if the state of the store can be journaled.
    let isDurable: Bool
  }

  var kind: String { content.kind.name }
  /// The metrics of the kind.
  var metrics: KindMetrics { content.kind.metrics }
  /// The configuration as JSON text.
  var configuration: [UInt8] { content.configuration }
  var number: StoreNumber { content.number }
  var store: any AnyStore { content.made.store }
  var faults: Faults? { content.faults }
  var isDurable: Bool { content.isDurable }
  /// Returns the reason to refuse a use of the store to a viewer; nil if every use is permitted.
  var refusing: StoreKind.Refusing? { isClosed ? nil : content.kind.refusing }

  /// The clients of the subscriptions.
  var clients: ClientTable { turnOutcome.clients }
  var subscriptions = SmallCollection<Subscription>()
  /// The entries of the audiences; nil if no viewer has an audience.
  var audiences: [AnyHashable: StoreEntry]?
  /// Set if this entry is that of an audience.
  private let viewedAudience: AudienceOfStore?
  /// The entry of the store, if this one is that of an audience.
  var parent: StoreEntry? { viewedAudience?.store }
  /// The audience, if this entry is that of an audience.
  var audience: AnyHashable? { viewedAudience?.audience }
  var isOfAudience: Bool { viewedAudience != nil }

  /// An audience and the entry of the store that it views.
  private final class AudienceOfStore {
    private(set) weak var store: StoreEntry?
    let audience: AnyHashable

    init(_ audience: AnyHashable, of store: StoreEntry) {
      self.audience = audience
      self.store = store
    }
  }

  // The update of the last publication waits for the next publication or for the end of the input.
  // Only then is it known whether it includes all immediate actions of its request, which `applied`
  // states. It is nil between turns, so that each of thousands of idle stores needs little memory.
  var pendingUpdate: PendingUpdate?
  let turnOutcome: TurnOutcome
  /// The broadcast buffer for passive subscribers. It is released at the end of a turn in which the
  /// store has changed and the buffer has no subscriber.
  var broadcast: BroadcastUpdates?
  /// Events that follow the pending update.
  var waitingEvents: [(event: [UInt8], recipients: EventRecipients)] = []
  /// The requests whose inputs have exchanges that have not ended.
  var awaitedReplies = AwaitedReplies()
  /// Nil except while an input, or the reply to one, is being folded.
  var folding: Folding?

  /// The last updates; nil if no client can reconnect.
  var history: UpdateHistory?
  /// The revision of the last redaction; updates up to it are never replayed.
  var redacted: Revision = 0
  /// The first revision of the store that was opened last.
  private(set) var opened: Revision = 0
  /// The store's entries for the journal; nil if they are not journaled.
  var record: StoreEntryRecord?
  /// The recording of the session; nil unless a console reads it.
  var recording: SessionRecording?

  let account: SessionAccount
  /// Number of bytes of this store in the account.
  private var counted = 0

  /// Creates an entry with a new store.
  init(
    name: String, _ content: Content, _ account: SessionAccount, _ turnOutcome: TurnOutcome,
    renewal: StoreRenewal = .opened
  ) {
    viewedAudience = nil
    self.name = name
    self.renewal = renewal
    self.account = account
    self.turnOutcome = turnOutcome
    self.content = content
    opened = store.revision
    store.serve(self)
    count()
    count(isOpen: true)
  }

  /// Creates an entry whose store continues from its state in the journal, or is closed as in the
  /// journal.
  init(
    _ stored: JournalContents.Store, _ content: Content, _ account: SessionAccount,
    historyBytes: Int, _ turnOutcome: TurnOutcome
  ) {
    viewedAudience = nil
    name = stored.name
    self.account = account
    self.turnOutcome = turnOutcome
    self.content = content
    isClosed = stored.isClosed
    opened = stored.opened
    renewal = stored.renewal
    redacted = stored.redacted
    history = UpdateHistory(stored.frames, to: stored.revision, maximumBytes: historyBytes)
    store.serve(self)
    count()
    count(isOpen: !isClosed)
  }

  /// Creates the entry of a shared store that the session has closed.
  init(
    closed name: String, _ content: Content, _ account: SessionAccount, _ turnOutcome: TurnOutcome
  ) {
    viewedAudience = nil
    self.name = name
    self.account = account
    self.turnOutcome = turnOutcome
    self.content = content
    isClosed = true
    opened = store.revision
  }

  /// Creates the entry of an audience of a store.
  ///
  /// It has no history, which counts on consecutive revisions: a revision of the store need not
  /// change the view of an audience.
  init(_ parent: StoreEntry, _ audience: AnyHashable, _ view: any AnyStore) {
    name = parent.name
    viewedAudience = AudienceOfStore(audience, of: parent)
    (account, turnOutcome) = (parent.account, parent.turnOutcome)
    content = Content(
      kind: parent.content.kind, sharedConfiguration: nil, number: parent.number,
      made: StoreKind.Made(view: view), faults: parent.faults, isDurable: parent.isDurable)
    (opened, renewal, redacted) = (parent.opened, parent.renewal, parent.redacted)
    view.serve(self)
    count()
  }

  /// Opens a new store under the name of a closed one.
  func reopen(_ content: Content) {
    self.content = content
    isClosed = false
    opened = store.revision
    renewal = .opened
    history?.restart(from: opened)
    store.serve(self)
    count()
    count(isOpen: true)
  }

  /// Closes the entry: notifies all subscribers and removes them.
  func close() {
    awaitedReplies.removeAll()
    for entry in audienceEntries { entry.close() }
    audiences = nil
    isClosed = true
    recording?.closed(self)
    recording = nil
    record?.add(.closed)
    pendingUpdate?.isWaiting = false
    pendingUpdate?.removeAll()
    waitingEvents.removeAll()
    let notified = subscriptions
    removeSubscriptions()
    for subscription in notified { subscription.storeClosed() }
    // The name may stay closed for long, so the store is released.
    content = Content(
      kind: content.kind, sharedConfiguration: nil, number: number,
      made: StoreKind.Made(
        closed: ClosedStore(revision: store.revision, lastOperation: store.lastOperation)),
      faults: faults, isDurable: isDurable)
    history?.restart(from: store.revision)
    count()
    count(isOpen: false)
  }

  /// Counts the store as an open one, or no longer; the views of audiences do not count.
  private func count(isOpen: Bool) {
    guard isOpen != isCounted, !isOfAudience else { return }
    isCounted = isOpen
    metrics.stores.add(isOpen ? 1 : -1)
  }

  /// Updates the account to the current sizes.
  func count() {
    let text = (content.sharedConfiguration?.text.count ?? 0) + store.shownBytes
    let now = isClosed ? 0 : 2 * text + store.hiddenBytes + (history?.byteCount ?? 0)
    guard now != counted else { return }
    account.add(now - counted)
    counted = now
  }

  /// Returns the limit of the session that would be exceeded with `bytes` additional bytes; nil if
  /// there is none.
  func limit(adding bytes: Int) -> SessionError.Limit? { account.limit(adding: bytes) }

  /// Removes the bytes of this store from the account.
  func removeFromAccount() {
    for entry in audienceEntries { entry.removeFromAccount() }
    account.add(-counted)
    counted = 0
    count(isOpen: false)
  }

  /// Returns true if the store was opened with an equal configuration, given as JSON text.
  func isConfigured(as configuration: [UInt8]) -> Bool {
    let own = content.configuration
    if own == configuration { return true }
    guard let own = try? JSONValue(parsing: own, limits: .stored) else { return false }
    return (try? JSONValue(parsing: configuration, limits: .stored)) == own
  }
}
