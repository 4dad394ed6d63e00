// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON
internal import StatewireProtocol

/// A name in a session, its store, and the subscriptions to the store.
///
/// It converts each publication of the store to an update once, regardless of the number of
/// subscriptions.
final class StoreEntry {
  let name: String
  private var content: Content
  private(set) var isClosed = false
  /// True while the store is counted as an open one.
  private var isCounted = false

  /// The store that has the name.
  struct Content {
    let kind: String
    /// The metrics of the kind.
    let metrics: KindMetrics
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
    /// Returns the reason to refuse a use of the store to a viewer; nil if every use is permitted.
    var refusing: StoreKind.Refusing?
  }

  var kind: String { content.kind }
  /// The configuration as JSON text.
  var configuration: [UInt8] { content.configuration }
  var number: StoreNumber { content.number }
  var store: any AnyStore { content.made.store }
  var faults: Faults? { content.faults }
  var isDurable: Bool { content.isDurable }
  /// Returns the reason to refuse a use of the store to a viewer; nil if every use is permitted.
  var refusing: StoreKind.Refusing? { content.refusing }

  /// The clients of the subscriptions.
  var clients: ClientTable { turnOutcome.clients }
  private var subscriptions = Few<Subscription>()
  /// The entries of the audiences; nil if no viewer has an audience.
  var audiences: [AnyHashable: StoreEntry]?
  /// The entry of the store, if this one is that of an audience.
  private(set) weak var parent: StoreEntry?
  /// The audience, if this entry is that of an audience.
  let audience: AnyHashable?
  /// True if the viewers have changed in this turn.
  var isPresenceDue = false
  /// True while an input of a subscription is being folded.
  private var isSending = false

  // The update of the last publication waits for the next publication or for the end of the input.
  // Only then is it known whether it includes all immediate actions of its request, which `applied`
  // states. It is nil between turns, so that each of thousands of idle stores needs little memory.
  private var waiting: PendingUpdate?
  let turnOutcome: TurnOutcome
  /// The broadcast buffer for passive subscribers. It is released at the end of a turn in which the
  /// store has changed and the buffer has no subscriber.
  private var text: BroadcastUpdates?
  /// Events that follow the update that waits.
  private var waitingEvents: [(event: [UInt8], recipients: EventRecipients)] = []
  /// The requests whose inputs have exchanges that have not ended, by input.
  private var awaitingReply: [InputID: (request: [UInt8], subscription: Subscription)] = [:]
  /// Callbacks for inputs that were settled while an input is being folded.
  private var settledDuringInput: [() -> Void] = []
  /// Failures while an input is being folded, to be reported with its request.
  private var failuresDuringInput: [JSONError] = []

  /// The last updates; nil if no client can reconnect.
  private(set) var history: UpdateHistory?
  /// The revision of the last redaction; updates up to it are never replayed.
  private(set) var redacted: Revision = 0
  /// The first revision of the store that was opened last.
  private(set) var opened: Revision = 0
  /// The reason why no revision before `opened` is continued.
  private(set) var renewal = StoreRenewal.opened
  /// The store's entries for the journal; nil if they are not journaled.
  private var record: StoreEntryRecord?
  /// The recording of the session; nil unless a console reads it.
  var recording: SessionRecording?

  private let account: SessionAccount
  /// Number of bytes of this store in the account.
  private var counted = 0

  /// Creates an entry with a new store.
  init(
    name: String, _ content: Content, _ account: SessionAccount, _ turnOutcome: TurnOutcome,
    renewal: StoreRenewal = .opened
  ) {
    audience = nil
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
    audience = nil
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
    audience = nil
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
    (name, self.audience, self.parent) = (parent.name, audience, parent)
    (account, turnOutcome) = (parent.account, parent.turnOutcome)
    content = Content(
      kind: parent.kind, metrics: parent.content.metrics, sharedConfiguration: nil,
      number: parent.number,
      made: StoreKind.Made(view: view), faults: parent.faults, isDurable: parent.isDurable,
      refusing: parent.refusing)
    opened = view.revision
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

  /// Stores the updates from now on.
  func keepHistory(maximumBytes: Int) {
    guard history == nil else { return }
    history = UpdateHistory(from: store.revision, maximumBytes: maximumBytes)
  }

  /// Journals the store, except its updates, and each later change.
  func journal(to record: StoreEntryRecord) {
    self.record = record
    history?.restart(from: store.revision)
    record.add(
      .opened(
        kind: kind, configuration: content.configuration,
        revision: isClosed ? store.revision : opened, version: store.version, renewal: renewal))
    if store.lastOperation > 0 {
      record.add(.accepted(operation: store.lastOperation, epoch: 0, input: nil, at: .zero))
      record.add(.settled(operation: store.lastOperation))
    }
    guard !isClosed else { return record.add(.closed) }
    if content.isDurable {
      store.record(by: record)
    } else {
      record.add(.state(nil, revision: store.revision))
    }
    if redacted > 0 { record.add(.redacted(redacted)) }
  }

  /// Continues to journal a store that an earlier process has journaled.
  ///
  /// - Parameter renewed: True if the state is not the one that the earlier process has journaled.
  func goOn(writingTo record: StoreEntryRecord, renewed: Bool) {
    self.record = record
    if renewed {
      record.add(.renewed(revision: opened, version: store.version, renewal: renewal))
    }
    store.record(by: record)
  }

  /// Returns the reason why the missed updates cannot be replayed to a client that has a revision;
  /// nil if they can.
  func snapshotReason(from held: Revision?) -> SessionAttach.SnapshotReason? {
    guard let held else { return SessionAttach.SnapshotReason.none }
    if held > store.revision { return .ahead }
    if held < opened { return .reopened }
    if held == store.revision { return nil }
    if held < redacted { return .redacted }
    guard let history, held >= history.start else { return .trimmed }
    return nil
  }

  /// Closes the entry: notifies all subscribers and removes them.
  func close() {
    awaitingReply = [:]
    for entry in audienceEntries { entry.close() }
    audiences = nil
    isClosed = true
    recording?.closed(self)
    recording = nil
    record?.add(.closed)
    waiting?.isWaiting = false
    waiting?.removeAll()
    waitingEvents.removeAll()
    let notified = subscriptions
    removeSubscriptions()
    for subscription in notified { subscription.storeClosed() }
    // The name may stay closed for long, so the store is released.
    content = Content(
      kind: kind, metrics: content.metrics, sharedConfiguration: nil, number: number,
      made: StoreKind.Made(
        closed: ClosedStore(revision: store.revision, lastOperation: store.lastOperation)),
      faults: faults, isDurable: isDurable)
    history?.restart(from: store.revision)
    count()
    count(isOpen: false)
  }

  /// Counts the store as an open one, or no longer; the views of audiences do not count.
  private func count(isOpen: Bool) {
    guard isOpen != isCounted, audience == nil else { return }
    isCounted = isOpen
    content.metrics.stores.add(isOpen ? 1 : -1)
  }

  /// Updates the account to the current sizes.
  private func count() {
    let text = (content.sharedConfiguration?.text.count ?? 0) + store.shownBytes
    let now = isClosed ? 0 : 2 * text + (history?.byteCount ?? 0)
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

  func attach(_ subscription: Subscription) {
    text?.others = nil
    subscriptions.append(subscription)
  }

  func removeSubscriptions() {
    for entry in audienceEntries { entry.removeSubscriptions() }
    text = nil
    subscriptions.removeAll()
  }

  func detach(_ subscription: Subscription) {
    text?.others = nil
    subscriptions.remove(subscription)
    if subscription.format != nil { viewersChanged() }
    if audience != nil { releaseIfUnused() }
  }

  /// The number of subscriptions, those of audiences included.
  var subscriptionCount: Int {
    audienceEntries.reduce(subscriptions.count) { $0 + $1.subscriptions.count }
  }

  /// True if no client uses the store.
  var isUnused: Bool { subscriptions.count == 0 }

  /// The viewers that have subscribed, each with its place in the order of subscriptions.
  var subscribedViewers: [(order: UInt64, viewer: Viewer)] {
    subscriptions.filter { $0.format != nil }.map { ($0.order, $0.viewer) }
  }

  /// Passes an input of a subscription to the store.
  func send(
    reading reader: inout JSONReader, from subscription: Subscription,
    request: UnsafeRawBufferPointer?
  ) throws(InputError) -> SendResult? {
    isSending = true
    defer { endSending() }
    let sendResult: SendResult?
    do throws(InputError) {
      sendResult = try content.made.send(&reader, subscription.viewer)
      content.metrics.inputs.add()
    } catch {
      // A refused input may have caused publications before it was undone, also by the effects that
      // it cancelled.
      flush()
      reportFailures(of: request)
      throw error
    }
    if let sendResult, !sendResult.isReplied {
      if let request { awaitingReply[sendResult.inputID] = (Array(request), subscription) }
    } else {
      subscription.applied(request)
    }
    flush()
    return sendResult
  }

  /// Notes that an input, or the reply to one, has been folded.
  private func endSending() {
    isSending = false
    if !failuresDuringInput.isEmpty { reportFailures(of: nil) }
    guard !settledDuringInput.isEmpty else { return }
    let settled = settledDuringInput
    settledDuringInput.removeAll()
    for tell in settled { tell() }
  }

  /// Calls `body` when an input is settled, after the update of its last effect.
  func whenSettled(_ inputID: InputID, _ body: @escaping (Completion) -> Void) {
    store.whenSettled(inputID) { [weak self] completion in
      // The effects may have been ended by the input that is being folded. The update of that input
      // waits for its end and is sent first.
      guard let self, isSending else { return body(completion) }
      settledDuringInput.append { [store] in
        body(Completion(revision: store.revision, completion.end))
      }
    }
  }

  /// Sends the update that waits and the events that follow it.
  private func flush() {
    flushUpdate()
    guard !waitingEvents.isEmpty else { return }
    let events = waitingEvents
    waitingEvents.removeAll()
    for (event, recipients) in events { tell(event, recipients) }
  }

  private func tell(_ event: [UInt8], _ recipients: EventRecipients) {
    event.withUnsafeBytes { event in
      subscriptions.visit { if recipients.contains($0.viewer) { $0.happened(event) } }
    }
  }

  private func flushUpdate() {
    guard let waiting, waiting.isWaiting else { return }
    waiting.isWaiting = false
    waiting.members.withBytes { members in
      // A replay must not show what is hidden now.
      if waiting.isRedaction {
        redacted = waiting.revision
        turnOutcome.hasRedaction = true
        history?.restart(from: redacted)
      } else {
        keep(members, to: waiting.revision)
      }
      let patch = UnsafeRawBufferPointer(rebasing: members[waiting.patchStart...])
      tell(waiting.frame(patch, members, currentBroadcast()), .patch)
      if waiting.isStateLarge {
        subscriptions.visit { if $0.format == .state { $0.stateChanged(since: waiting.base) } }
      }
      guard waiting.stateMembers.count > 0 else { return }
      waiting.stateMembers.withBytes { tell(waiting.frame(patch, $0, nil), .state) }
    }
    waiting.removeAll()
  }

  private func tell(_ frame: consuming Update, _ format: FrameFormat) {
    // The subscribers of the buffer receive the update with this call, even if they leave the
    // buffer while other subscribers are notified.
    frame.text?.add(frame)
    if let others = frame.text?.others {
      for subscription in others { tell(frame, format, to: subscription) }
    } else {
      subscriptions.visit { tell(frame, format, to: $0) }
      if let text = frame.text { text.others = subscriptions.filter { $0.broadcast !== text } }
    }
    // After the notified subscribers: usually one of them has sent the input and waits for the
    // response.
    frame.text?.awaitTurnEnd()
  }

  /// Returns the broadcast buffer for the next update; nil if there are fewer than two
  /// subscriptions.
  private func currentBroadcast() -> BroadcastUpdates? {
    guard subscriptions.count > 1 else { return nil }
    if let text, !text.isFull { return text }
    let text = BroadcastUpdates(turnOutcome)
    self.text = text
    return text
  }

  private func tell(
    _ frame: borrowing Update, _ format: FrameFormat, to subscription: Subscription
  ) {
    guard subscription.format == format else { return }
    let hasIt =
      subscription.broadcast.map { $0 === frame.text }
      ?? (subscription.broadcastRevision == frame.revision)
    if !hasIt { subscription.changed(frame) }
  }

  /// True if a subscription has the format `state`. Subscribers of the broadcast buffer have the
  /// format `patch`.
  private var isStateWanted: Bool {
    if let others = text?.others { return others.contains { $0.format == .state } }
    return subscriptions.contains { $0.format == .state }
  }

  /// Stores an update for reconnecting clients.
  private func keep(_ members: UnsafeRawBufferPointer, to revision: Revision) {
    let start = history?.start
    history?.append(members, to: revision)
    if let record, let now = history?.start, now != start { record.add(.trimmed(now)) }
  }

  /// Replaces the function that takes inputs of clients by what `replacement` makes of it.
  ///
  /// - Returns: The function before.
  func replaceSend(
    _ replacement: (@escaping StoreKind.Made.Send) -> StoreKind.Made.Send
  ) -> StoreKind.Made.Send {
    let send = content.made.send
    content.made.send = replacement(send)
    return send
  }

  /// Returns the object for the next update, and registers it for the end of the turn.
  private func nextPendingUpdate() -> PendingUpdate {
    if let waiting, waiting.endsWithTurn { return waiting }
    let room = waiting ?? PendingUpdate()
    waiting = room
    room.endsWithTurn = true
    turnOutcome.add(self)
    return room
  }

  private func write(
    _ publication: borrowing Publication, _ waiting: PendingUpdate, _ record: StoreEntryRecord
  ) {
    if !content.isDurable {
      record.add(.step(patch: nil, revision: publication.revision, frame: nil))
    } else if publication.isRedaction {
      record.published(.redaction)
    } else if history?.keeps(waiting.members.count) == true {
      record.published(.frame(waiting.members.bytes()))
    }
  }

  private func writeState(_ publication: borrowing Publication, _ waiting: PendingUpdate) {
    waiting.isStateLarge = store.shown.isLarge
    if waiting.isStateLarge { return }
    Self.writeHead(name, waiting.base, waiting.revision, to: &waiting.stateMembers)
    waiting.stateMembers.raw(",\"state\":")
    publication.writeState(to: &waiting.stateMembers)
  }

  /// Writes the members at the start of each update.
  static func writeHead(
    _ store: String, _ base: Revision, _ revision: Revision, to writer: inout JSONWriter
  ) {
    writeName(store, to: &writer)
    writeRevisions(base, revision, to: &writer)
  }

  private static func writeName(_ store: String, to writer: inout JSONWriter) {
    writer.raw("\"store\":")
    writer.value(store)
  }

  private static func writeRevisions(
    _ base: Revision, _ revision: Revision, to writer: inout JSONWriter
  ) {
    writer.raw(",\"base\":")
    writer.value(base)
    writer.raw(",\"revision\":")
    writer.value(revision)
  }
}

extension StoreEntry: StoreServer {
  var needsPatches: Bool {
    record != nil || history != nil || recording != nil
      || subscriptions.contains { $0.format != nil }
  }

  func willReply() {
    isSending = true
    // The client may see the store as one of the audiences.
    for entry in audienceEntries { entry.willReply() }
  }

  func didReply(to inputID: InputID, isLast: Bool, isRefused: Bool) {
    for entry in audienceEntries {
      entry.didReply(to: inputID, isLast: isLast, isRefused: isRefused)
    }
    if isLast, let (request, subscription) = awaitingReply.removeValue(forKey: inputID), !isRefused
    {
      request.withUnsafeBytes { subscription.applied($0) }
    }
    flush()
    endSending()
  }

  func published(_ publication: borrowing Publication) {
    guard let base = publication.base else { return }
    flushUpdate()
    let waiting = nextPendingUpdate()
    guard let patch = publication.patch else {
      guard publication.isRedaction else { return }
      redacted = publication.revision
      turnOutcome.hasRedaction = true
      return
    }
    content.metrics.updates.add()
    recording?.published(patch, publication, base, by: self)
    waiting.base = base
    waiting.revision = publication.revision
    waiting.isRedaction = publication.isRedaction
    if waiting.headCount == 0 {
      Self.writeName(name, to: &waiting.members)
      waiting.headCount = waiting.members.count
    }
    Self.writeRevisions(base, publication.revision, to: &waiting.members)
    waiting.members.raw(",\"patch\":")
    waiting.patchStart = waiting.members.count
    waiting.members.raw(patch)
    if let record { write(publication, waiting, record) }
    if isStateWanted { writeState(publication, waiting) }
    waiting.isWaiting = true
    // A publication of a running effect belongs to no request, so it is sent immediately.
    if !isSending { flush() }
  }

  func failed(_ error: JSONError) {
    failuresDuringInput.append(error)
    if !isSending { reportFailures(of: nil) }
  }

  /// Reports failures, with the id of the request whose input has caused them.
  private func reportFailures(of request: UnsafeRawBufferPointer?) {
    let failures = failuresDuringInput
    failuresDuringInput = []
    for error in failures {
      turnOutcome.storeFailed(
        StoreFailure(
          store: name, kind: kind, error: error, session: account.handle?.abbreviated,
          request: request.map { String(decoding: $0.prefix(100), as: UTF8.self) }))
    }
  }

  func happened(_ event: UnsafeRawBufferPointer, for recipients: EventRecipients) {
    recording?.happened(event, at: self)
    waitingEvents.append((Array(event), recipients))
    if !isSending { flush() }
  }
}

extension StoreEntry: TurnObserver {
  func turnEnded() {
    notePresence()
    store.dropBuffers()
    if text?.hasSubscribers == false { text = nil }
    count()
    guard let waiting else { return }
    waiting.endsWithTurn = false
    if !waiting.isWaiting { self.waiting = nil }
  }
}
