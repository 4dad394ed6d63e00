// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireJSON
public import StatewireProtocol

/// One frontend's hold on one store of its session.
///
/// It remembers how the frontend wants to hear of changes, and the last of its requests that has
/// been folded.
public final class Subscription {
  /// How the frontend wants to hear of changes; nil if not at all.
  public private(set) var format: FrameFormat?
  /// Whether the store is gone.
  public private(set) var isClosed = false

  let storeEntry: StoreEntry
  /// The store's name.
  var name: String { storeEntry.name }
  private let client: ClientID
  /// The id, as JSON text, of the latest of the frontend's requests whose immediate actions are in
  /// what it is told; empty if there was none.
  public private(set) var lastApplied: [UInt8] = []
  /// What the frontend follows: it gets what is added to that.
  private(set) var followed: BroadcastUpdates?
  /// Whether it follows anything.
  public var isFollowing: Bool { followed != nil }
  /// Its place among those who follow that.
  private var place = 0
  /// What the text that it followed last has led to; nil before.
  private(set) var told: Revision?
  /// What waits until the frontend reads.
  private var waiting: CoalescedUpdate?

  init(_ storeEntry: StoreEntry, _ client: ClientID) {
    self.storeEntry = storeEntry
    self.client = client
    storeEntry.attach(self)
  }

  /// Reads an input and takes it.
  ///
  /// - Parameters:
  ///   - reader: Stands before the input; paths of errors start where its text does.
  ///   - request: The id of the request that brought it, as JSON text; nil if it had none.
  /// - Throws: `SessionError.input`, `.unencodable`, `.storeClosed` or `.limit`; nothing has changed then.
  public func send(
    reading reader: inout JSONReader, request: UnsafeRawBufferPointer?
  ) throws(SessionError) -> SendResult? {
    guard !isClosed else { throw .storeClosed(storeEntry.name) }
    if let limit = storeEntry.limit(adding: reader.remainingBytes) { throw .limit(limit) }
    do throws(InputError) {
      return try storeEntry.send(reading: &reader, from: self, request: request)
    } catch {
      switch error {
      case .undecodable(let error): throw .input(error)
      case .unencodable(let error): throw .unencodable(error)
      case .closed: throw .storeClosed(storeEntry.name)
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
  public var revision: Revision { storeEntry.store.revision }

  /// The current state, which may be written on any thread.
  public var state: JSONEncodedState {
    finishWaiting()
    return storeEntry.store.shown
  }

  /// About how long the current state is as JSON text.
  /// - Units: bytes.
  public var expectedBytes: Int { storeEntry.store.shown.expectedBytes }

  /// Calls `body` with each frame from a revision on that is kept, as `Update.members`.
  public func replay(from revision: Revision, _ body: (UnsafeRawBufferPointer) -> Void) {
    storeEntry.history?.forEach(from: revision, body)
  }

  /// Whether the state differs from the one before an input; see `SendResult.base`.
  public func hasChanged(since mark: StateMark) -> Bool { storeEntry.store.hasChanged(since: mark) }

  /// Cancels the effects of an input.
  public func cancel(_ inputID: InputID) { storeEntry.store.cancel(inputID) }

  /// A request gets its response when all effects of an input have ended.
  public func respondsAtEnd(of inputID: InputID) { storeEntry.store.respondsAtEnd(of: inputID) }

  /// Calls `body` once all effects of an input have ended, at once if they have.
  public func whenSettled(_ inputID: InputID, _ body: @escaping (Completion) -> Void) {
    storeEntry.whenSettled(inputID, body)
  }

  /// The frontend is gone, or wants to hear nothing more.
  func detach() {
    finishWaiting()
    storeEntry.detach(self)
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
  func changed(_ frame: borrowing Update) {
    if waiting == nil {
      guard let receiver, !receiver.storeChanged(frame, of: self) else { return }
      waiting = CoalescedUpdate(base: frame.base)
    }
    waiting?.add(frame)
  }

  /// The store has changed, and its state, which the frontend wants, is so large that changes are merged.
  /// - Parameter base: The revision before.
  func changedWholly(since base: Revision) {
    guard waiting == nil else { return }
    waiting = CoalescedUpdate(wholeSince: base)
    receiver?.storeChangedWholly(self)
  }

  /// Takes what has waited, now that the frontend reads; nil if the store is gone.
  public func takeWaiting() -> CoalescedChange? {
    guard let waiting, let format else { return nil }
    self.waiting = nil
    return waiting.change(of: storeEntry, format, applied: lastApplied)
  }

  /// The frontend follows a text from now on, and has all of it on its way; nil: it has taken what there
  /// was of that, and wants to be told of each change again.
  public func follow(_ text: BroadcastUpdates?) {
    if let followed {
      told = followed.revision
      followed.leave(place)
    }
    followed = text
    if let text { place = text.join(self, of: client) }
  }

  private var receiver: (any Client)? { storeEntry.clients[client] }

  func moved(to place: Int) { self.place = place }

  private func finishWaiting() {
    if followed != nil { receiver?.endFollowing() }
    if waiting != nil { receiver?.finishWaiting(self) }
  }

  func happened(_ event: UnsafeRawBufferPointer) {
    if format != nil { receiver?.storeEvent(storeEntry.name, event) }
  }

  func slotClosed() {
    finishWaiting()
    isClosed = true
    let wasSubscribed = format != nil
    format = nil
    if wasSubscribed { receiver?.storeClosed(storeEntry.name) }
  }
}
