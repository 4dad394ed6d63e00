// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON
internal import StatewireProtocol

/// A name in a session and the store behind it, with everybody who looks at it.
///
/// Between the store, which publishes, and the frontends, to whom it goes: a publication becomes
/// the text of a frame once, however many there are to read it.
final class StoreSlot {
  let name: String
  private var content: Content
  private(set) var isClosed = false

  /// What stands behind the name.
  struct Content {
    let kind: String
    let configuration: JSONValue
    let number: StoreNumber
    let made: StoreKind.Made
    /// What its operations meet, in a session under test.
    let faults: Faults?
    /// Whether its state can be written down.
    let isDurable: Bool
  }

  var kind: String { content.kind }
  var configuration: JSONValue { content.configuration }
  var number: StoreNumber { content.number }
  var store: any AnyStore { content.made.store }
  var faults: Faults? { content.faults }
  var isDurable: Bool { content.isDurable }

  private var attachments: [Attachment] = []
  /// The attachment whose request is being folded.
  private var sender: Attachment?

  // The frame of the last publication waits for the next one, or for the end of the input: only
  // then is it known whether it contains all immediate actions of its request, as `applied` says.
  private var waiting = JSONWriter()
  private var waitingHead = Head(base: 0, revision: 0, patchStart: 0, isRedaction: false)
  private var waitingState = JSONWriter()
  private var isWaiting = false
  /// Whether the frame that waited is being told, which may end a turn.
  private var isTelling = false
  private let turnEnd: TurnEnd
  /// Whether memory is kept for the next change of this turn.
  private var hasBuffers = false
  /// Events that come after the frame that waits.
  private var waitingEvents: [[UInt8]] = []
  /// Whoever waited for effects that the input in hand has ended.
  private var settledMeanwhile: [() -> Void] = []

  /// The last frames, where frontends may come back.
  private(set) var history: FrameHistory?
  /// The first revision after which nothing of before may be shown.
  private(set) var redacted: Revision = 0
  /// The first revision of the store that was opened last.
  private(set) var opened: Revision = 0
  /// Writes down what happens here; nil where nobody does.
  private var record: SlotRecord?

  /// What is known of the frame that waits beside its text.
  private struct Head {
    var base: Revision
    var revision: Revision
    /// Where its operations begin in its text.
    var patchStart: Int
    var isRedaction: Bool
  }

  /// One change on its way to those who have subscribed, as text for either format.
  struct Change: ~Copyable {
    let base: Revision
    let revision: Revision
    let patch: UnsafeRawBufferPointer
    let isRedaction: Bool
    let patchMembers: UnsafeRawBufferPointer
    let stateMembers: UnsafeRawBufferPointer

    func members(_ format: FrameFormat) -> UnsafeRawBufferPointer {
      switch format {
      case .patch: patchMembers
      case .state: stateMembers
      }
    }
  }

  init(name: String, _ content: Content, _ turnEnd: TurnEnd) {
    self.name = name
    self.turnEnd = turnEnd
    self.content = content
    opened = store.revision
    listen()
  }

  /// A name whose store goes on from where it was, or is as closed as it was.
  init(
    _ stored: JournalContents.Store, _ content: Content, historyBytes: Int, _ turnEnd: TurnEnd
  ) {
    name = stored.name
    self.turnEnd = turnEnd
    self.content = content
    isClosed = stored.isClosed
    opened = stored.opened
    redacted = stored.redacted
    history = FrameHistory(stored.frames, to: stored.revision, maximumBytes: historyBytes)
    listen()
  }

  /// Puts a new store behind a name that was closed.
  func reopen(_ content: Content) {
    self.content = content
    isClosed = false
    opened = store.revision
    history?.restart(from: opened)
    listen()
  }

  /// Keeps the frames from now on.
  func keepHistory(maximumBytes: Int) {
    guard history == nil else { return }
    history = FrameHistory(from: store.revision, maximumBytes: maximumBytes)
  }

  /// Writes down what there is, frames excepted, and what happens from now on.
  func writeDown(to record: SlotRecord) {
    self.record = record
    history?.restart(from: store.revision)
    record.add(
      .opened(
        kind: kind, configuration: Array(configuration.description.utf8),
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
  func goOn(writingTo record: SlotRecord) {
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
  func close(reason: ClosedReason) {
    isClosed = true
    record?.add(.closed)
    isWaiting = false
    waitingEvents.removeAll()
    let told = attachments
    attachments.removeAll()
    for attachment in told { attachment.slotClosed(reason) }
    // A name may stay closed for long, and is not to keep what was behind it.
    content = Content(
      kind: kind, configuration: configuration, number: number,
      made: StoreKind.Made(
        closed: ClosedStore(revision: store.revision, lastOperation: store.lastOperation)),
      faults: faults, isDurable: isDurable)
  }

  func attach(_ attachment: Attachment) { attachments.append(attachment) }

  func forgetAttachments() { attachments.removeAll() }

  func detach(_ attachment: Attachment) { attachments.removeAll { $0 === attachment } }

  /// Lets an input be folded on behalf of a frontend's request.
  func send(
    reading reader: inout JSONReader, from attachment: Attachment, request: UnsafeRawBufferPointer?
  ) throws(InputError) -> Receipt? {
    sender = attachment
    defer {
      sender = nil
      let settled = settledMeanwhile
      settledMeanwhile.removeAll()
      for tell in settled { tell() }
    }
    let receipt = try content.made.send(&reader)
    attachment.applied(request)
    flush()
    return receipt
  }

  /// Calls `body` once all effects of an input have ended, after the frame of what they did.
  func whenSettled(_ ticket: Ticket, _ body: @escaping (Settlement) -> Void) {
    store.whenSettled(ticket) { [weak self] settlement in
      // An input in hand may have ended them; its own frame, which waits for its end, comes first.
      guard let self, sender != nil else { return body(settlement) }
      settledMeanwhile.append { body(settlement) }
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
    event.withUnsafeBytes { for attachment in attachments { attachment.happened($0) } }
  }

  private func flushFrame() {
    guard isWaiting else { return }
    isWaiting = false
    isTelling = true
    defer { isTelling = false }
    waiting.withBytes { members in
      // What is hidden now must not come back in a replay.
      if waitingHead.isRedaction {
        redacted = waitingHead.revision
        history?.restart(from: redacted)
      } else {
        keep(members, to: waitingHead.revision)
      }
      waitingState.withBytes { state in
        let change = Change(
          base: waitingHead.base, revision: waitingHead.revision,
          patch: UnsafeRawBufferPointer(rebasing: members[waitingHead.patchStart...]),
          isRedaction: waitingHead.isRedaction, patchMembers: members, stateMembers: state)
        for attachment in attachments { attachment.changed(change) }
      }
    }
    waiting.removeAll(keepingCapacity: waiting.count <= Self.keptBytes)
    waitingState.removeAll(keepingCapacity: waitingState.count <= Self.keptBytes)
  }

  /// Keeps a frame for frontends that come back.
  private func keep(_ members: UnsafeRawBufferPointer, to revision: Revision) {
    let start = history?.start
    history?.append(members, to: revision)
    if let record, let now = history?.start, now != start { record.add(.trimmed(now)) }
  }

  // A buffer that one large frame has blown up is given back.
  private static var keptBytes: Int { 64 << 10 }

  private func listen() {
    _ = store.listen { [unowned self] in published($0) }
    _ = store.listenToEvents { [unowned self] event in
      waitingEvents.append(Array(event))
      if sender == nil { flush() }
    }
  }

  /// Tells a tracer what is observed here; nil tells nobody.
  func trace(_ tracer: Tracer?) {
    guard let tracer else { return store.trace(nil) }
    store.trace { [name] in tracer.tell($0, of: name) }
  }

  private func published(_ publication: borrowing Publication) {
    guard let base = publication.base, let patch = publication.patch else { return }
    if !hasBuffers {
      hasBuffers = true
      turnEnd.add(self)
    }
    flushFrame()
    waiting.removeAll()
    writeHead(base, publication.revision, to: &waiting)
    waiting.raw(",\"patch\":")
    waitingHead = Head(
      base: base, revision: publication.revision, patchStart: waiting.count,
      isRedaction: publication.isRedaction)
    waiting.raw(patch)
    if let record { write(publication, record) }
    waitingState.removeAll()
    if attachments.contains(where: { $0.format == .state }) {
      writeHead(base, publication.revision, to: &waitingState)
      waitingState.raw(",\"state\":")
      publication.writeState(to: &waitingState)
    }
    isWaiting = true
    // What comes from running effects belongs to no request in hand.
    if sender == nil { flush() }
  }

  private func write(_ publication: borrowing Publication, _ record: SlotRecord) {
    if !content.isDurable {
      record.add(.step(patch: nil, revision: publication.revision, frame: nil))
    } else if publication.isRedaction {
      record.published(.redaction)
    } else if history?.keeps(waiting.count) == true {
      record.published(.frame(waiting.bytes()))
    }
  }

  /// Writes the members that all frames begin with.
  func writeHead(_ base: Revision, _ revision: Revision, to writer: inout JSONWriter) {
    writer.raw("\"store\":")
    writer.value(name)
    writer.raw(",\"base\":")
    writer.value(base)
    writer.raw(",\"revision\":")
    writer.value(revision)
  }
}

extension StoreSlot: TurnEndObserver {
  /// Thousands of stores that nothing happens to are to cost little each: what is kept for the next
  /// change is kept for this turn.
  func turnEnded() {
    hasBuffers = false
    store.dropBuffers()
    guard !isWaiting, !isTelling else { return }
    waiting = JSONWriter()
    waitingState = JSONWriter()
  }
}
