// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

// Publications of a store: the changes that folded actions make.

extension Store {
  /// Calls `listener` immediately with the current value, and later with each new one.
  ///
  /// - Returns: The id for `stopListening(_:)`. Other listeners are not affected when this one
  ///   stops.
  public func listen(_ listener: @escaping (borrowing Publication) -> Void) -> ListenerID {
    let id = listeners.add(listener)
    sendCurrent(listener)
    return id
  }

  /// Passes the current value, and later each new value and event, to a server before other
  /// listeners.
  ///
  /// - Precondition: the store has no other server.
  public func serve(_ server: any StoreServer) {
    precondition(listeners.server == nil, "the store has a server already")
    listeners.server = server
    sendCurrent { server.published($0) }
    if let failure = unreported {
      unreported = nil
      server.failed(failure.error)
    }
  }

  private func sendCurrent(_ listener: (borrowing Publication) -> Void) {
    // Inputs that the listener sends in this first call are queued like any other.
    let wasIdle = phase == .idle
    if wasIdle { phase = .folding }
    listener(
      Publication(
        base: nil, revision: revision, patch: nil, isRedaction: false, store: self))
    if wasIdle, phase == .folding { work() }
  }

  /// Calls `listener` with each later event, as JSON text that is valid during the call.
  ///
  /// - Returns: The id for `stopListening(_:)`.
  public func listenToEvents(
    _ listener: @escaping (UnsafeRawBufferPointer) -> Void
  ) -> ListenerID {
    listeners.add(events: listener)
  }

  /// Removes a listener; it is not called again.
  public func stopListening(_ id: ListenerID) { _ = listeners.remove(id) }

  /// Sets the span of the inputs that are sent from now on; nil if they are not traced.
  public func trace(in span: (any TraceSpan)?) { runner.cause = span }

  /// Sends all later trace records to `trace`; nil ends the trace.
  public func trace(_ trace: ((TraceRecord) -> Void)?) {
    if trace != nil {
      observers = observers ?? Observers()
      runner.reportParts()
    }
    observers?.trace = trace
    if observers?.isEmpty == true { observers = nil }
  }

  /// Releases the memory that is kept for the next change; that change takes a little longer.
  public func dropBuffers() {
    guard phase == .idle else { return }
    buffers = nil
  }

  /// Folds an action.
  ///
  /// - Parameter inputID: The input of the effect that gave the action; nil for a feed.
  func fold(_ action: Machine.Action, for inputID: InputID?) {
    guard phase == .folding else { return }
    if keepsLastState { return foldKeepingLastState(action, for: inputID) }
    do throws(JSONError) { try change(by: action, for: inputID) } catch {
      failed(error, after: nil)
    }
  }

  /// Folds an action whose state may be taken back.
  ///
  /// The parts of the state that the action changes are copied, because the previous state is kept.
  private func foldKeepingLastState(_ action: Machine.Action, for inputID: InputID?) {
    let last = running.state
    do throws(JSONError) { try change(by: action, for: inputID) } catch {
      failed(error, after: last)
    }
  }

  private func change(by action: Machine.Action, for inputID: InputID?) throws(JSONError) {
    let child = running.reduce(action)
    let effect = running.effect(after: action, of: child)
    guard presence == nil, case .none = effect.step else {
      return try publish(action, of: child, for: inputID, before: effect)
    }
    try publish(action, of: child)
  }

  /// Publishes an action that can have consequences: it has an effect, or children may have appeared
  /// or vanished.
  private func publish(
    _ action: Machine.Action, of child: ChildNode<Machine>?, for inputID: InputID?,
    before effect: Effect<Machine.Action>
  ) throws(JSONError) {
    let before = keepsLastState ? presence?.present : nil
    let children = presence.flatMap { running.change(of: $0, isOfChild: child != nil) }
    let effect = children?.effect.before(effect) ?? effect
    let isFollowed = if case .none = effect.step { false } else { true }
    if isFollowed || children?.mayHaveVanished == true { keepBase() }
    do throws(JSONError) { try publish(action, of: child) } catch {
      if let before { presence?.present = before }
      throw error
    }
    if let children, children.mayHaveVanished { cancelVanished() }
    if isFollowed { follow(effect, for: inputID) }
  }

  private func publish(
    _ action: Machine.Action, of child: ChildNode<Machine>?
  ) throws(JSONError) {
    observers?.produced(action, .actions, revision)
    if let record {
      try publish(isRedaction: running.isRedaction(action, of: child), record)
    } else {
      try publish(isRedaction: running.isRedaction(action, of: child))
    }
    if Machine.Event.self != Never.self { sendEvents(of: action, of: child) }
  }

  private func publish(
    isRedaction: Bool, _ record: StoreRecord<Machine>
  ) throws(JSONError) {
    let before = revision
    let recorded = try encoded(for: record)
    try publish(isRedaction: isRedaction)
    recordStep(record, recorded, hasPublished: revision != before)
  }

  /// Takes back a state that cannot be encoded, for example because it contains a number that is
  /// not finite, and reports the failure.
  ///
  /// - Parameter last: The previous state; nil if it was not kept, or if the state stays.
  func failed(_ error: JSONError, after last: Machine.State?) {
    if let last = last ?? record?.lastState { running.state = last }
    if performing != nil, failure == nil { failure = Failure(error) }
    releaseBuffers()
    listeners.server?.failed(error)
    observers?.tested(.failed(.unencodable(error)))
  }

  private func publish(isRedaction: Bool) throws(JSONError) {
    let view = running.view()
    let buffers = buffersForChange()
    let listeners = listeners.snapshot
    buffers.patch.leavesOutValues = !listeners.needPatches
    if let audiences {
      return try publish(view, to: audiences, isRedaction: isRedaction, buffers, listeners)
    }
    try Machine.advance(
      &published, to: view, by: viewEncoding, using: &buffers.encoded, writing: &buffers.patch)
    guard !buffers.patch.isEmpty else { return releaseBuffers() }
    publishChange(view, isRedaction: isRedaction, buffers, to: listeners)
  }

  /// Releases the buffers: no publication tells the server to call `dropBuffers` in this turn.
  private func releaseBuffers() { buffers = nil }

  /// Gives the new state the next revision, and notifies the listeners.
  @inline(__always)
  private func publishChange(
    _ view: Machine.ViewState, isRedaction: Bool, _ buffers: StoreBuffers,
    to listeners: ListenerSnapshot
  ) {
    let base = revision
    let needPatch = !buffers.patch.leavesOutValues
    revision += 1
    observers?.published(view, revision)
    buffers.patch.withBytes { patch in
      listeners.notify(
        Publication(
          base: base, revision: revision, patch: needPatch ? patch : nil,
          isRedaction: isRedaction, store: self))
    }
  }

  /// Publishes the views of the audiences, and the view of the machine to other listeners.
  private func publish(
    _ view: Machine.ViewState, to audiences: Audiences<Machine>, isRedaction: Bool,
    _ buffers: StoreBuffers, _ listeners: ListenerSnapshot
  ) throws(JSONError) {
    // All are encoded before one is published: one that cannot be takes back the whole state.
    let views = try audiences.encode(running.state, of: machine)
    try Machine.advance(
      &published, to: view, by: viewEncoding, using: &buffers.encoded, writing: &buffers.patch)
    let patches = views.map { $0.store.advance(to: $0.shown) }
    guard !buffers.patch.isEmpty || patches.contains(where: { $0 != nil }) else {
      return releaseBuffers()
    }
    publishChange(view, isRedaction: isRedaction, buffers, to: listeners)
    let revision = revision
    for (view, patch) in zip(views, patches) {
      if let patch { view.store.publish(patch, revision: revision, isRedaction: isRedaction) }
    }
  }

  private func notify(event: UnsafeRawBufferPointer, _ recipients: EventRecipients) {
    listeners.snapshot.notify(event: event, recipients) {
      if let audiences {
        for audience in audiences.all { audience.happened(event, for: recipients) }
      }
    }
  }

  private func buffersForChange() -> StoreBuffers {
    if let buffers {
      buffers.patch.removeAll(keepingCapacity: true)
      return buffers
    }
    let made = StoreBuffers()
    buffers = made
    return made
  }

  /// Calls `body` with the operations of the last published change.
  func withPatch<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    buffers.map { $0.patch.withBytes(body) } ?? body(UnsafeRawBufferPointer(start: nil, count: 0))
  }

  private func sendEvents(of action: Machine.Action, of child: ChildNode<Machine>?) {
    guard phase == .folding else { return }
    for addressed in running.events(of: action, of: child) {
      observers?.tested(.event(addressed.event))
      // An event that cannot be encoded is not sent; the view state does not depend on it.
      guard let text = try? JSON.encode(addressed.event) else { continue }
      text.withUnsafeBytes { notify(event: $0, addressed.recipients) }
    }
  }
}
