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
  private(set) var kind: String
  private(set) var configuration: JSONValue
  private(set) var number: StoreNumber
  private(set) var store: any AnyStore
  private(set) var isClosed = false

  private var attachments: [Attachment] = []
  /// The attachment whose request is being folded.
  private var sender: Attachment?

  // The frame of the last publication waits for the next one, or for the end of the input: only
  // then is it known whether it contains all immediate actions of its request, as `applied` says.
  private var waiting = JSONWriter()
  private var waitingState = JSONWriter()
  private var isWaiting = false
  /// Whoever waited for effects that the input in hand has ended.
  private var settledMeanwhile: [() -> Void] = []

  init(
    name: String, kind: String, configuration: JSONValue, number: StoreNumber, store: any AnyStore
  ) {
    self.name = name
    self.kind = kind
    self.configuration = configuration
    self.number = number
    self.store = store
    listen()
  }

  /// Puts a new store behind a name that was closed.
  func reopen(
    kind: String, configuration: JSONValue, number: StoreNumber, store: any AnyStore
  ) {
    self.kind = kind
    self.configuration = configuration
    self.number = number
    self.store = store
    isClosed = false
    listen()
  }

  /// The store has been closed: tells everybody who has used it, and forgets them.
  func close(reason: ClosedReason) {
    isClosed = true
    isWaiting = false
    let told = attachments
    attachments.removeAll()
    for attachment in told { attachment.slotClosed(reason) }
  }

  func attach(_ attachment: Attachment) { attachments.append(attachment) }

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
    let receipt = try store.send(reading: &reader)
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

  /// Sends the frame that waits.
  private func flush() {
    guard isWaiting else { return }
    isWaiting = false
    waiting.withBytes { patch in
      waitingState.withBytes { state in
        for attachment in attachments { attachment.changed(patch: patch, state: state) }
      }
    }
    waiting.removeAll(keepingCapacity: waiting.count <= Self.keptBytes)
    waitingState.removeAll(keepingCapacity: waitingState.count <= Self.keptBytes)
  }

  // A buffer that one large frame has blown up is given back.
  private static var keptBytes: Int { 64 << 10 }

  private func listen() {
    _ = store.listen { [unowned self] in published($0) }
  }

  private func published(_ publication: borrowing Publication) {
    guard let base = publication.base, let patch = publication.patch else { return }
    flush()
    write(base, publication.revision, into: &waiting)
    waiting.raw(",\"patch\":")
    waiting.raw(patch)
    waitingState.removeAll()
    if attachments.contains(where: { $0.format == .state }) {
      write(base, publication.revision, into: &waitingState)
      waitingState.raw(",\"state\":")
      publication.writeState(to: &waitingState)
    }
    isWaiting = true
    // What comes from running effects belongs to no request in hand.
    if sender == nil { flush() }
  }

  private func write(_ base: Revision, _ revision: Revision, into writer: inout JSONWriter) {
    writer.removeAll()
    writer.raw("\"store\":")
    writer.value(name)
    writer.raw(",\"base\":")
    writer.value(base)
    writer.raw(",\"revision\":")
    writer.value(revision)
  }
}
