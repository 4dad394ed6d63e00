// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireJSON
public import StatewireProtocol

/// One frontend's hold on one store of its session.
///
/// It remembers how the frontend wants to hear of changes, and the last of its requests that has
/// been folded.
public final class Attachment {
  /// How the frontend wants to hear of changes; nil if not at all.
  public private(set) var format: FrameFormat?
  /// Whether the store is gone.
  public private(set) var isClosed = false

  let slot: StoreSlot
  /// The store's name.
  var name: String { slot.name }
  private let client: ClientID
  /// The id, as JSON text, of the latest of the frontend's requests whose immediate actions are in
  /// what it is told; empty if there was none.
  public private(set) var lastApplied: [UInt8] = []
  /// What the frontend follows: it gets what is added to that.
  private(set) var followed: FrameText?
  /// Whether it follows anything.
  public var isFollowing: Bool { followed != nil }
  /// Its place among those who follow that.
  private var place = 0
  /// What the text that it followed last has led to; nil before.
  private(set) var told: Revision?
  /// What waits until the frontend reads.
  private var waiting: MergedFrame?

  init(_ slot: StoreSlot, _ client: ClientID) {
    self.slot = slot
    self.client = client
    slot.attach(self)
  }

  /// Reads an input and takes it.
  ///
  /// - Parameters:
  ///   - reader: Stands before the input; paths of errors start where its text does.
  ///   - request: The id of the request that brought it, as JSON text; nil if it had none.
  /// - Throws: `SessionError.input`, `.unencodable`, `.storeClosed` or `.limit`; nothing has changed then.
  public func send(
    reading reader: inout JSONReader, request: UnsafeRawBufferPointer?
  ) throws(SessionError) -> Receipt? {
    guard !isClosed else { throw .storeClosed(slot.name) }
    if let limit = slot.limit(adding: reader.remainingBytes) { throw .limit(limit) }
    do throws(InputError) {
      return try slot.send(reading: &reader, from: self, request: request)
    } catch {
      switch error {
      case .undecodable(let error): throw .input(error)
      case .unencodable(let error): throw .unencodable(error)
      case .closed: throw .storeClosed(slot.name)
      }
    }
  }

  /// Sends changes from now on, in a format.
  public func subscribe(_ format: FrameFormat) {
    finishWaiting()
    self.format = format
  }

  /// Sends changes no more.
  public func unsubscribe() {
    finishWaiting()
    format = nil
  }

  /// The revision of the current state.
  public var revision: Revision { slot.store.revision }

  /// The current state, which may be written on any thread.
  public var state: JSONEncodedState {
    finishWaiting()
    return slot.store.shown
  }

  /// About how long the current state is as JSON text.
  /// - Units: bytes.
  public var expectedBytes: Int { slot.store.shown.expectedBytes }

  /// Calls `body` with each frame from a revision on that is kept, as `ChangedFrame.members`.
  public func replay(from revision: Revision, _ body: (UnsafeRawBufferPointer) -> Void) {
    slot.history?.forEach(from: revision, body)
  }

  /// Whether the state differs from the one before an input; see `Receipt.base`.
  public func hasChanged(since mark: StateMark) -> Bool { slot.store.hasChanged(since: mark) }

  /// Cancels the effects of an input.
  public func cancel(_ ticket: Ticket) { slot.store.cancel(ticket) }

  /// A request gets its response when all effects of an input have ended.
  public func answersEnd(of ticket: Ticket) { slot.store.answersEnd(of: ticket) }

  /// Calls `body` once all effects of an input have ended, at once if they have.
  public func whenSettled(_ ticket: Ticket, _ body: @escaping (Settlement) -> Void) {
    slot.whenSettled(ticket, body)
  }

  /// The frontend is gone, or wants to hear nothing more.
  func detach() {
    finishWaiting()
    slot.detach(self)
  }

  func applied(_ request: UnsafeRawBufferPointer?) {
    guard let request else { return }
    if followed != nil { receiver?.endFollowing() }
    // Ids count on, so the next one is most often as long as the last.
    guard lastApplied.count == request.count else {
      lastApplied = Array(request)
      return
    }
    lastApplied.withUnsafeMutableBytes { $0.copyMemory(from: request) }
  }

  /// The store has changed.
  /// - Parameter frame: How, in the format that the frontend wants.
  func changed(_ frame: borrowing ChangedFrame) {
    if waiting == nil {
      guard let receiver, !receiver.storeChanged(frame, of: self) else { return }
      waiting = MergedFrame(base: frame.base)
    }
    waiting?.add(frame)
  }

  /// The store has changed, and its state, which the frontend wants, is so large that changes are merged.
  /// - Parameter base: The revision before.
  func changedWholly(since base: Revision) {
    guard waiting == nil else { return }
    waiting = MergedFrame(wholeSince: base)
    receiver?.storeChangedWholly(self)
  }

  /// Takes what has waited, now that the frontend reads; nil if the store is gone.
  public func takeWaiting() -> MergedChange? {
    guard let waiting, let format else { return nil }
    self.waiting = nil
    return waiting.change(of: slot, format, applied: lastApplied)
  }

  /// The frontend follows a text from now on, and has all of it on its way; nil: it has taken what there
  /// was of that, and wants to be told of each change again.
  public func follow(_ text: FrameText?) {
    if let followed {
      told = followed.revision
      followed.leave(place)
    }
    followed = text
    if let text { place = text.join(self, of: client) }
  }

  private var receiver: (any Client)? { slot.clients[client] }

  func moved(to place: Int) { self.place = place }

  private func finishWaiting() {
    if followed != nil { receiver?.endFollowing() }
    if waiting != nil { receiver?.finishWaiting(self) }
  }

  func happened(_ event: UnsafeRawBufferPointer) {
    if format != nil { receiver?.storeEvent(slot.name, event) }
  }

  func slotClosed() {
    finishWaiting()
    isClosed = true
    let wasSubscribed = format != nil
    format = nil
    if wasSubscribed { receiver?.storeClosed(slot.name) }
  }
}
