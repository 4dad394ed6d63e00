// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON
internal import StatewireProtocol

/// A name in a session and the store behind it, with everybody who looks at it.
///
/// Between the store, which publishes, and the frontends, to whom it goes: a publication becomes
/// the text of a frame once, however many there are to read it.
final class StoreEntry {
  let name: String
  private var content: Content
  private(set) var isClosed = false

  /// What stands behind the name.
  struct Content {
    let kind: String
    /// What equal configurations have in common; nil once the store is closed.
    let sharedConfiguration: SharedConfiguration?
    /// As JSON text.
    var configuration: [UInt8] { sharedConfiguration?.text ?? Array("{}".utf8) }
    let number: StoreNumber
    let made: StoreKind.Made
    /// What its operations meet, in a session under test.
    let faults: Faults?
    /// Whether its state can be written down.
    let isDurable: Bool
  }

  var kind: String { content.kind }
  var number: StoreNumber { content.number }
  var store: any AnyStore { content.made.store }
  var faults: Faults? { content.faults }
  var isDurable: Bool { content.isDurable }

  /// The clients that subscriptions belong to.
  var clients: ClientTable { turnOutcome.clients }
  private var subscriptions = Few<Subscription>()
  /// Whether the request of a subscription is being folded.
  private var isSending = false

  // The frame of the last publication waits for the next one, or for the end of the input: only
  // then is it known whether it contains all immediate actions of its request, as `applied` says.
  // Nil between turns: thousands of stores that nothing happens to are to cost little each.
  private var waiting: PendingUpdate?
  private let turnOutcome: TurnOutcome
  /// What frontends that only look on follow; let go of when a turn ends in which the store has changed and
  /// none does.
  private var text: BroadcastUpdates?
  /// Events that come after the frame that waits.
  private var waitingEvents: [[UInt8]] = []
  /// Whoever waited for effects that the input in hand has ended.
  private var settledMeanwhile: [() -> Void] = []

  /// The last frames, where frontends may come back.
  private(set) var history: UpdateHistory?
  /// The revision of the last redaction; frames up to it are never given again.
  private(set) var redacted: Revision = 0
  /// The first revision of the store that was opened last.
  private(set) var opened: Revision = 0
  /// Writes down what happens here; nil where nobody does.
  private var record: StoreEntryRecord?

  private let account: SessionAccount
  /// How many bytes the account has of it.
  private var counted = 0

  init(name: String, _ content: Content, _ account: SessionAccount, _ turnOutcome: TurnOutcome) {
    self.name = name
    self.account = account
    self.turnOutcome = turnOutcome
    self.content = content
    opened = store.revision
    store.serve(self)
    count()
  }

  /// A name whose store goes on from where it was, or is as closed as it was.
  init(
    _ stored: JournalContents.Store, _ content: Content, _ account: SessionAccount,
    historyBytes: Int, _ turnOutcome: TurnOutcome
  ) {
    name = stored.name
    self.account = account
    self.turnOutcome = turnOutcome
    self.content = content
    isClosed = stored.isClosed
    opened = stored.opened
    redacted = stored.redacted
    history = UpdateHistory(stored.frames, to: stored.revision, maximumBytes: historyBytes)
    store.serve(self)
    count()
  }

  /// Puts a new store behind a name that was closed.
  func reopen(_ content: Content) {
    self.content = content
    isClosed = false
    opened = store.revision
    history?.restart(from: opened)
    store.serve(self)
    count()
  }

  /// Keeps the frames from now on.
  func keepHistory(maximumBytes: Int) {
    guard history == nil else { return }
    history = UpdateHistory(from: store.revision, maximumBytes: maximumBytes)
  }

  /// Writes down what there is, frames excepted, and what happens from now on.
  func writeDown(to record: StoreEntryRecord) {
    self.record = record
    history?.restart(from: store.revision)
    record.add(
      .opened(
        kind: kind, configuration: content.configuration,
        revision: isClosed ? store.revision : opened))
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

  /// Goes on to write down what happens, after all that was written in an earlier process.
  func goOn(writingTo record: StoreEntryRecord) {
    self.record = record
    store.record(by: record)
  }

  /// Why a frontend that holds a revision cannot be given the frames that it has missed; nil if it
  /// can.
  func whyNoReplay(from held: Revision?) -> SessionAttach.SnapshotReason? {
    guard let held else { return SessionAttach.SnapshotReason.none }
    if held > store.revision { return .ahead }
    if held < opened { return .reopened }
    if held == store.revision { return nil }
    if held < redacted { return .redacted }
    guard let history, held >= history.start else { return .trimmed }
    return nil
  }

  /// The store has been closed: tells everybody who has used it, and forgets them.
  func close() {
    isClosed = true
    record?.add(.closed)
    waiting?.isWaiting = false
    waiting?.removeAll()
    waitingEvents.removeAll()
    let told = subscriptions
    forgetAttachments()
    for subscription in told { subscription.slotClosed() }
    // A name may stay closed for long, and is not to keep what was behind it.
    content = Content(
      kind: kind, sharedConfiguration: nil, number: number,
      made: StoreKind.Made(
        closed: ClosedStore(revision: store.revision, lastOperation: store.lastOperation)),
      faults: faults, isDurable: isDurable)
    history?.restart(from: store.revision)
    count()
  }

  /// Brings the account to what is held now.
  private func count() {
    let text = (content.sharedConfiguration?.text.count ?? 0) + store.shownBytes
    let now = isClosed ? 0 : 2 * text + (history?.byteCount ?? 0)
    guard now != counted else { return }
    account.add(now - counted)
    counted = now
  }

  /// The limit that the session would exceed with so many bytes more; nil if none.
  func limit(adding bytes: Int) -> SessionError.Limit? { account.limit(adding: bytes) }

  /// Nothing is held here any more.
  func leaveAccount() {
    account.add(-counted)
    counted = 0
  }

  /// Whether it was opened with this configuration, given as JSON text.
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

  func forgetAttachments() {
    text = nil
    subscriptions.removeAll()
  }

  func detach(_ subscription: Subscription) {
    text?.others = nil
    subscriptions.remove(subscription)
  }

  /// Lets an input be folded on behalf of a frontend's request.
  func send(
    reading reader: inout JSONReader, from subscription: Subscription,
    request: UnsafeRawBufferPointer?
  ) throws(InputError) -> SendResult? {
    isSending = true
    defer {
      isSending = false
      if !settledMeanwhile.isEmpty {
        let settled = settledMeanwhile
        settledMeanwhile.removeAll()
        for tell in settled { tell() }
      }
    }
    let receipt: SendResult?
    do throws(InputError) {
      receipt = try content.made.send(&reader)
    } catch {
      // Of one that is taken back something may have been published before, or by what it has cancelled.
      flush()
      throw error
    }
    subscription.applied(request)
    flush()
    return receipt
  }

  /// Calls `body` once all effects of an input have ended, after the frame of what they did.
  func whenSettled(_ inputID: InputID, _ body: @escaping (Completion) -> Void) {
    store.whenSettled(inputID) { [weak self] settlement in
      // An input in hand may have ended them; its own frame, which waits for its end, comes first.
      guard let self, isSending else { return body(settlement) }
      settledMeanwhile.append { [store] in
        body(Completion(revision: store.revision, settlement.end))
      }
    }
  }

  /// Sends the frame that waits, and the events behind it.
  private func flush() {
    flushFrame()
    guard !waitingEvents.isEmpty else { return }
    let events = waitingEvents
    waitingEvents.removeAll()
    for event in events { tell(event) }
  }

  private func tell(_ event: [UInt8]) {
    event.withUnsafeBytes { event in subscriptions.visit { $0.happened(event) } }
  }

  private func flushFrame() {
    guard let waiting, waiting.isWaiting else { return }
    waiting.isWaiting = false
    waiting.members.withBytes { members in
      // What is hidden now must not come back in a replay.
      if waiting.isRedaction {
        redacted = waiting.revision
        turnOutcome.hides = true
        history?.restart(from: redacted)
      } else {
        keep(members, to: waiting.revision)
      }
      let patch = UnsafeRawBufferPointer(rebasing: members[waiting.patchStart...])
      tell(waiting.frame(patch, members, textToFollow()), .patch)
      if waiting.isStateLarge {
        subscriptions.visit { if $0.format == .state { $0.changedWholly(since: waiting.base) } }
      }
      guard waiting.stateMembers.count > 0 else { return }
      waiting.stateMembers.withBytes { tell(waiting.frame(patch, $0, nil), .state) }
    }
    waiting.removeAll()
  }

  private func tell(_ frame: consuming Update, _ format: FrameFormat) {
    // Those who follow have it with this, even if they stop doing so while others are told.
    frame.text?.add(frame)
    if let others = frame.text?.others {
      for subscription in others { tell(frame, format, to: subscription) }
    } else {
      subscriptions.visit { tell(frame, format, to: $0) }
      if let text = frame.text { text.others = subscriptions.filter { $0.followed !== text } }
    }
    // Behind those who were told by themselves: one of them, most often, has sent the input and waits.
    frame.text?.awaitTurnEnd()
  }

  /// What frontends may follow, where there are several.
  private func textToFollow() -> BroadcastUpdates? {
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
      subscription.followed.map { $0 === frame.text } ?? (subscription.told == frame.revision)
    if !hasIt { subscription.changed(frame) }
  }

  /// Whether some subscription wants the whole state; who follows does not.
  private var isStateWanted: Bool {
    if let others = text?.others { return others.contains { $0.format == .state } }
    return subscriptions.contains { $0.format == .state }
  }

  /// Keeps a frame for frontends that come back.
  private func keep(_ members: UnsafeRawBufferPointer, to revision: Revision) {
    let start = history?.start
    history?.append(members, to: revision)
    if let record, let now = history?.start, now != start { record.add(.trimmed(now)) }
  }

  /// Tells a tracer what is observed here; nil tells nobody.
  func trace(_ tracer: Tracer?) {
    guard let tracer else { return store.trace(nil) }
    store.trace { [name] in tracer.tell($0, of: name) }
  }

  /// Room for a frame, kept for this turn.
  private func waitingFrame() -> PendingUpdate {
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

  /// Writes the members that all frames begin with.
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
    record != nil || history != nil || subscriptions.contains { $0.format != nil }
  }

  func published(_ publication: borrowing Publication) {
    guard let base = publication.base else { return }
    flushFrame()
    let waiting = waitingFrame()
    guard let patch = publication.patch else {
      guard publication.isRedaction else { return }
      redacted = publication.revision
      turnOutcome.hides = true
      return
    }
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
    // What comes from running effects belongs to no request in hand.
    if !isSending { flush() }
  }

  func failed(_ error: JSONError) {
    turnOutcome.storeFailed(StoreFailure(store: name, kind: kind, error: error))
  }

  func happened(_ event: UnsafeRawBufferPointer) {
    waitingEvents.append(Array(event))
    if !isSending { flush() }
  }
}

extension StoreEntry: TurnObserver {
  func turnEnded() {
    store.dropBuffers()
    if text?.isFollowed == false { text = nil }
    count()
    guard let waiting else { return }
    waiting.endsWithTurn = false
    if !waiting.isWaiting { self.waiting = nil }
  }
}
