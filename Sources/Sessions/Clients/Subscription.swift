// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireJSON
public import StatewireProtocol

/// A client's use of one store of its session: the format of its updates, if it has subscribed, and
/// the last of its requests that the store has applied.
public final class Subscription {
  let storeEntry: StoreEntry
  /// The store's name.
  var name: String { storeEntry.name }
  private let client: ClientID
  /// The participant, as the machine knows it.
  var viewer: Viewer { didSet { if format != nil { storeEntry.viewersChanged() } } }
  /// The place in the order in which clients have subscribed; 0 if this one has not.
  private(set) var order: UInt64 = 0
  /// The id, as JSON text, of the client's latest request whose immediate actions its updates
  /// include; empty if there is none.
  public private(set) var lastApplied: [UInt8] = []
  /// The broadcast buffer from which the client takes updates; nil if it receives each update.
  private(set) var broadcast: BroadcastUpdates?
  /// True if the client takes updates from a broadcast buffer.
  public var isInBroadcast: Bool { broadcast != nil }
  /// The index of the subscription in the broadcast buffer.
  private var place = 0
  /// The last revision in the broadcast buffer that the client used last; nil before.
  private(set) var broadcastRevision: Revision?
  /// The format of the updates; nil if the client receives none.
  public private(set) var format: FrameFormat?
  /// True after the store was closed.
  public private(set) var isClosed = false
  /// The coalesced update that waits until the client reads.
  private var waiting: CoalescedUpdate?
  /// True while a coalesced update waits.
  var isCoalescing: Bool { waiting != nil }

  init(_ storeEntry: StoreEntry, _ client: ClientID, _ viewer: Viewer) {
    self.storeEntry = storeEntry
    self.client = client
    self.viewer = viewer
    storeEntry.attach(self)
  }

  /// Decodes an input and passes it to the store.
  ///
  /// - Parameters:
  ///   - reader: A reader at the start of the input; paths of errors start at the beginning of its
  ///     text.
  ///   - request: The id of the request with the input, as JSON text; nil for a notification.
  /// - Returns: The send result; nil as for `AnyStore.send`.
  /// - Throws: `SessionError.input`, `.unencodable`, `.storeClosed` or `.limit`; nothing has
  ///   changed then.
  public func send(
    reading reader: inout JSONReader, request: UnsafeRawBufferPointer?
  ) throws(SessionError) -> SendResult? {
    guard !isClosed else { throw .storeClosed(storeEntry.name) }
    try check(.send)
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

  /// Decodes an input and passes it to the store within a span; see `send(reading:request:)`.
  ///
  /// - Parameters:
  ///   - reader: A reader at the start of the input.
  ///   - request: The id of the request with the input, as JSON text; nil for a notification.
  ///   - span: The span of the input. It gets the names of the store and of the input, and causes spans of the
  ///     effects and of the commit.
  /// - Returns: The send result; nil as for `AnyStore.send`.
  /// - Throws: `SessionError`, as without a span.
  public func send(
    reading reader: inout JSONReader, request: UnsafeRawBufferPointer?, in span: any TraceSpan
  ) throws(SessionError) -> SendResult? {
    let entry = storeEntry.parent ?? storeEntry
    let commits = entry.turnOutcome.commits
    let before = commits?.entryCount
    span.add([("statewire.store", entry.name)])
    entry.store.trace(in: span)
    defer {
      entry.store.trace(in: nil)
      if before != commits?.entryCount { commits?.trace(span) }
    }
    return try send(reading: &reader, request: request)
  }

  /// The name of the kind of the store.
  public var kind: String { storeEntry.kind }

  /// Checks that the kind of the store permits a use of it.
  ///
  /// - Throws: `SessionError.forbidden`.
  public func check(_ access: StoreAccess) throws(SessionError) {
    if let refusal = storeEntry.refusing?(access, viewer) { throw .forbidden(refusal) }
  }

  /// Sends updates in a format from now on.
  public func subscribe(_ format: FrameFormat) {
    finishWaiting()
    if self.format == nil {
      order = storeEntry.turnOutcome.nextSubscription()
      storeEntry.viewersChanged()
    }
    self.format = format
  }

  /// Ends the updates.
  public func unsubscribe() {
    finishWaiting()
    if format != nil { storeEntry.viewersChanged() }
    format = nil
  }

  /// Returns the reason why the client cannot get the updates after a revision that it has; nil if
  /// it can.
  ///
  /// A revision of another audience stands for another view.
  func snapshotReason(
    from held: Revision?, _ named: NamedFrontend?
  ) -> SessionAttach.SnapshotReason? {
    if let held, let audience = storeEntry.audience {
      guard let known = named?.audiences[name], known.audience == audience,
        known.formerRevision.map({ held > $0 }) ?? true
      else { return .redacted }
    }
    return storeEntry.snapshotReason(from: held)
  }

  /// The number of updates after a revision.
  func updates(since held: Revision) -> Int { storeEntry.store.revision - held }

  /// True if a viewer sees the same view as the client.
  func isOfAudience(of viewer: Viewer) -> Bool {
    guard let audience = storeEntry.audience, let parent = storeEntry.parent else { return true }
    return parent.store.audience(of: viewer) == audience
  }

  /// The revision of the current state.
  public var revision: Revision { storeEntry.store.revision }

  /// The current state, which can be written on any thread.
  public var state: JSONEncodedState {
    finishWaiting()
    return storeEntry.store.shown
  }

  /// The approximate length of the current state as JSON text.
  ///
  /// - Units: bytes.
  public var expectedBytes: Int { storeEntry.store.shown.expectedBytes }

  /// Calls `body` with each stored update from a revision on, as `Update.members`.
  public func replay(from revision: Revision, _ body: (UnsafeRawBufferPointer) -> Void) {
    storeEntry.history?.forEach(from: revision, body)
  }

  /// Returns true if the state differs from the state before an input; see `SendResult.base`.
  public func hasChanged(since mark: StateMark) -> Bool { storeEntry.store.hasChanged(since: mark) }

  /// Cancels the effects of an input.
  public func cancel(_ inputID: InputID) { storeEntry.store.cancel(inputID) }

  /// Records that a request gets its response when an input is settled.
  public func respondsAtEnd(of inputID: InputID) { storeEntry.store.respondsAtEnd(of: inputID) }

  /// True if no exchange delays the response to an input.
  public func isReplied(_ inputID: InputID) -> Bool { storeEntry.store.isReplied(inputID) }

  /// True while another party works at an input.
  public func hasExchange(_ inputID: InputID) -> Bool { storeEntry.store.hasExchange(inputID) }

  /// Calls `body` when the exchanges of an input have ended; see `AnyStore.whenReplied`.
  public func whenReplied(_ inputID: InputID, _ body: @escaping (Completion) -> Void) {
    storeEntry.store.whenReplied(inputID, body)
  }

  /// Calls `body` when an input is settled, immediately if it is settled already.
  public func whenSettled(_ inputID: InputID, _ body: @escaping (Completion) -> Void) {
    storeEntry.whenSettled(inputID, body)
  }

  /// Ends the subscription, because the client leaves.
  func detach() {
    finishWaiting()
    storeEntry.detach(self)
  }

  /// Records the request whose immediate actions the next update includes.
  func applied(_ request: UnsafeRawBufferPointer?) {
    guard let request else { return }
    if broadcast != nil { connectedClient?.leaveBroadcasts() }
    // Clients count their ids, so the next id usually has the same length and the array is reused.
    guard lastApplied.count == request.count else {
      lastApplied = Array(request)
      return
    }
    lastApplied.withUnsafeMutableBytes { $0.copyMemory(from: request) }
  }

  /// Passes an update to the client, or adds it to the coalesced update.
  ///
  /// - Parameter update: The update in the format of the subscription.
  func changed(_ update: borrowing Update) {
    if waiting == nil {
      guard let connectedClient, !connectedClient.storeChanged(update, of: self) else { return }
      waiting = CoalescedUpdate(base: update.base)
    }
    waiting?.add(update)
    storeEntry.turnOutcome.metrics.updatesCoalesced.add()
  }

  /// Handles a change whose state was not written, which is sent as a coalesced update.
  ///
  /// - Parameter base: The revision before the change.
  func stateChanged(since base: Revision) {
    guard waiting == nil else {
      return storeEntry.turnOutcome.metrics.updatesCoalesced.add()
    }
    waiting = CoalescedUpdate(wholeSince: base)
    storeEntry.turnOutcome.metrics.updatesCoalesced.add()
    connectedClient?.largeStateChanged(self)
  }

  /// Removes and returns the coalesced update when the client reads; nil if there is none, or the
  /// client receives no updates any more.
  public func takeWaiting() -> CoalescedContent? {
    guard let waiting, let format else { return nil }
    self.waiting = nil
    return waiting.change(of: storeEntry, format, applied: lastApplied)
  }

  /// Takes updates from a broadcast buffer, all of whose later updates the client sends.
  ///
  /// - Precondition: The subscription is in no buffer.
  public func join(_ buffer: BroadcastUpdates) {
    broadcast = buffer
    place = buffer.join(self, of: client)
  }

  /// Receives each update from now on, because the client has taken all updates from its broadcast
  /// buffer.
  public func leaveBroadcast() {
    guard let broadcast else { return }
    broadcastRevision = broadcast.revision
    broadcast.leave(place)
    self.broadcast = nil
  }

  private var connectedClient: (any Client)? { storeEntry.clients[client] }

  /// Sets the index in the broadcast buffer.
  func moved(to place: Int) { self.place = place }

  /// Lets the client write the coalesced update and the remaining updates of the broadcast buffer.
  private func finishWaiting() {
    if broadcast != nil { connectedClient?.leaveBroadcasts() }
    if waiting != nil { connectedClient?.finishWaiting(self) }
  }

  /// Passes an event to the client.
  func happened(_ event: UnsafeRawBufferPointer) {
    if format != nil { connectedClient?.storeEvent(storeEntry.name, event) }
  }

  /// Ends the subscription after the store was closed, and notifies the client.
  func storeClosed() {
    finishWaiting()
    isClosed = true
    let wasSubscribed = format != nil
    format = nil
    if wasSubscribed { connectedClient?.storeClosed(storeEntry.name) }
  }
}
