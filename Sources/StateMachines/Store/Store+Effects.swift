// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

// Effects of a store: their beginning, their messages and their end.

// MARK: - Beginning

extension Store {
  func perform(_ effect: Effect<Machine.Action>, for inputID: InputID) {
    // After a step that closed the store, or whose action was taken back, no later step is
    // performed.
    guard phase == .folding, failure == nil || performing == nil else { return }
    switch effect.step {
    case .none:
      break
    case .action(let action):
      observers.gave(action, .input(inputID), revision)
      fold(action, for: inputID)
    case .named(let action, _, _) where observers.isEmpty && runner.environment.faults == nil:
      fold(action, for: inputID)
    case .named(let action, let name, let failing):
      perform(.immediate(name, failing), giving: .action(action), for: inputID)
    case .operation(_, let effect) where observers.isEmpty && runner.environment.faults == nil:
      perform(effect, for: inputID)
    case .operation(let work, let effect):
      perform(work, giving: effect, for: inputID)
    case .several(let effects):
      keepBase()
      // A span, because a loop over the array copies each effect.
      let effects = effects.span
      for index in effects.indices { perform(effects[index], for: inputID) }
    case .cancel(let id, let feeds):
      cancel(id, feeds: feeds)
    case .work(let work):
      begin(runner.environment.faults.map(work.meeting) ?? work, for: inputID)
    case .put(.after, let work, let effect):
      begin(work, for: inputID, next: effect)
    case .put(.debounced(let window, let time, let firstImmediately), let work, let effect):
      keepBase()
      if firstImmediately, runner.run(window: window) == nil {
        open(window, time, for: inputID)
        perform(effect, for: inputID)
      } else {
        cancelled(runner.cancel(window))
        begin(work, for: inputID, window: window, next: effect)
      }
    case .put(.throttled(let window, let time, let throttling), _, let inner):
      keepBase()
      if let run = runner.run(window: window) {
        guard throttling == .latest else { return }
        inputIDs.began(inputID)
        let replaced = runner.replaceNext(
          of: run,
          by: .init(effect: effect, inputID: inputID, cause: runner.cause))
        if let replaced { dropped(replaced) }
      } else {
        open(window, time, for: inputID)
        perform(inner, for: inputID)
      }
    case .deferred(let make):
      let id = effectsWithoutInput.contains(inputID) ? nil : record?.id(of: inputID)
      let moment = EffectMoment(clock: runner.environment.clock, operation: id, store: self)
      perform(make(moment), for: inputID)
    }
  }

  private func cancel(_ id: EffectID, feeds: Bool = true) {
    keepBase()
    cancelled(runner.cancel(id, feeds: feeds))
    for next in runner.removeNext(id) { dropped(next) }
  }

  /// Cancels the effects of an input, and their dependents.
  func cancelAll(of inputID: InputID) {
    let runs = runner.cancel(inputID)
    cancelled(runs)
    for next in runner.removeNext(of: inputID) { dropped(next) }
    for run in runs {
      if let id = run.work.dependents { cancel(id) }
    }
  }

  /// Cancels the effects of children that are no longer in the state.
  func cancelVanished() {
    if !runner.isIdle { cancelled(runner.cancelVanished(in: state)) }
  }

  private func begin(
    _ work: Work<Machine.Action>, for inputID: InputID, window: EffectID? = nil,
    next: Effect<Machine.Action>? = nil
  ) {
    keepBase()
    let next = next.map {
      EffectRunner<Machine.Action>.Next(effect: $0, inputID: inputID, cause: runner.cause)
    }
    guard let run = runner.begin(work, for: inputID, window: window, next: next) else {
      if !work.isKept, let id = work.id { runsAlready(id) }
      return
    }
    observers.began(run.operation, revision)
    if !run.isFeed { inputIDs.began(inputID, isExchange: work.exchange != nil) }
  }

  /// Reports a feed that has not begun, because a feed with its id runs.
  private func runsAlready(_ id: EffectID) {
    observers.tested(.runsAlready(id))
    let error = JSONError(.runsAlready, id.runsAlready)
    if let server = listeners.server { server.failed(error) } else { unreported = Failure(error) }
  }

  /// Opens a window; no input waits for its end.
  private func open(_ window: EffectID, _ time: Duration, for inputID: InputID) {
    begin(.wait(time).changing(isFeed: true), for: inputID, window: window)
  }

  /// Performs an immediate effect as an operation.
  private func perform(
    _ work: Work<Machine.Action>, giving effect: Effect<Machine.Action>, for inputID: InputID
  ) {
    var effect = effect
    switch fault(for: work) {
    case nil, .dropConnection: break
    case .fail: effect = work.failing.map { .action($0.failure) } ?? .none
    case .delay(let time):
      let wait = work.changing(name: "wait", body: { try? await $0.sleep(for: time) })
      let later = work.changing(hasMetFault: true)
      return begin(wait, for: inputID, next: Effect(step: .operation(later, effect)))
    case .hang:
      return begin(work.changing(body: { _ in await Fault.hang(giving: ()) }), for: inputID)
    }
    if observers.isEmpty { return perform(effect, for: inputID) }
    let operation = runner.nextOperation(work.name)
    observers.began(operation, revision)
    var hasFailed = false
    effect.forEachAction { action in
      let isFailure = work.failing?.isFailure(action) ?? false
      hasFailed = hasFailed || isFailure
      observers.gave(action, operation, isFailure: isFailure, revision)
    }
    perform(effect, for: inputID)
    observers.ended(operation, hasFailed ? .failed : .finished, revision)
  }

  private func fault(for work: Work<Machine.Action>) -> Fault? {
    work.hasMetFault ? nil : runner.environment.faults?.take(work.name)
  }
}

extension JSONError.Code {
  /// A feed has not begun, because a feed with its id runs.
  public static let runsAlready = JSONError.Code(rawValue: "runsAlready")
}

extension EffectID {
  /// One sentence for the author of a machine that has begun two feeds with this id.
  package var runsAlready: String {
    """
    a feed with the id \(description.quoted(upTo: 64)) runs already, so another one has not begun; give it another \
    id, or say with latest that it replaces the running one, or with unlessRunning that the running one continues
    """
  }
}

extension Effect {
  /// Calls `body` with each action of an immediate effect.
  fileprivate func forEachAction(_ body: (Action) -> Void) {
    switch step {
    case .action(let action), .named(let action, _, _): body(action)
    case .several(let effects): for effect in effects { effect.forEachAction(body) }
    case .none, .cancel, .work, .operation, .put, .deferred: break
    }
  }
}

// MARK: - Running

extension Store {
  /// Makes work wait until `DelayedWork.beginNext` is called, from now on.
  public func delayWork(by hold: @escaping (any DelayedWork) -> Void) { runner.delayWork(by: hold) }

  /// Handles a message from running work of this store.
  public func receive(_ message: EffectMessage) {
    // What the message causes belongs to the span of its work.
    if runner.isTraced { runner.cause = runner.run(message.run)?.span }
    defer { if runner.cause != nil { runner.cause = nil } }
    switch message.news {
    case .action(let action):
      guard phase != .closed, let run = runner.run(message.run),
        let action = action as? Machine.Action
      else { return }
      give(action, run)
    case .failed(let action):
      guard phase != .closed, let run = runner.run(message.run),
        let action = action as? Machine.Action
      else { return }
      give(action, run, isFailure: true)
    case .refused(let refusal, let action):
      guard phase != .closed, let run = runner.run(message.run) else { return }
      observers.tested(.refusal(refusal))
      guard !inputIDs.refuse(run.inputID, refusal), let action = action as? Machine.Action
      else { return }
      give(action, run)
    case .becameFeed(let action):
      guard phase != .closed, let action = action as? Machine.Action else { return }
      take(.becameFeed(action, message.run))
    case .partBegan(let part):
      if runner.partBegan(part, of: message.run) { observers.began(part, revision) }
    case .partEnded(let part, let end):
      if runner.partEnded(part, of: message.run) { observers.ended(part, end, revision) }
    case .ended:
      guard let run = runner.ended(message.run) else { return }
      endParts(of: run)
      observers.ended(run.operation, run.hasFailed ? .failed : .finished, revision)
      if let next = run.next {
        // The wait counts for its input until the effect after it has begun.
        take(.next(next))
      } else if !run.isFeed {
        settled(run.inputID, cancelled: false)
      }
    case .replied(let action, let refusal):
      guard runner.run(message.run) != nil else { return }
      take(.replied(message.run, action as? Machine.Action, refusal))
    }
  }

  /// Handles the reply to an exchange.
  func replied(_ number: RunNumber, _ action: Machine.Action?, _ refusal: InputRefusal?) {
    guard let run = runner.run(number) else { return }
    let (inputID, before) = (run.inputID, revision)
    listeners.server?.willReply()
    if let refusal {
      observers.tested(.refusal(refusal))
      _ = inputIDs.refuse(inputID, refusal)
    }
    if let action {
      gave(action, run)
      fold(action, for: inputID)
      // The exchanges that the action causes begin before this one ends, so that the response waits
      // for them.
      if !following.isEmpty { performFollowing() }
    }
    guard phase != .closed, runner.ended(number) != nil else {
      listeners.server?.didReply(to: inputID, isLast: false, isRefused: false)
      return
    }
    observers.ended(run.operation, refusal == nil ? .finished : .failed, revision)
    let replies = inputIDs.exchangeEnded(inputID, changed: revision != before)
    listeners.server?.didReply(
      to: inputID, isLast: replies != nil, isRefused: refusal != nil)
    if let replies { respond(replies) }
    settled(inputID, cancelled: false)
  }

  private func respond(_ replies: InputIDs.Replies) {
    for waiter in replies.waiters {
      waiter(Completion(revision: revision, replies.end, changed: replies.changed))
    }
  }

  /// Cancels the effects of an input, except feeds. Cancelled effects count as ended.
  ///
  /// Inside a publication the call is queued, like an input.
  public func cancel(_ inputID: InputID) {
    guard phase != .closed else { return }
    take(.cancel(inputID))
  }

  private func take(_ step: Step) {
    waiting.append(step)
    if phase == .idle { work() }
  }

  private func give(
    _ action: Machine.Action, _ run: EffectRunner<Machine.Action>.Run, isFailure: Bool = false
  ) {
    gave(action, run, isFailure: isFailure)
    take(.action(action, run.isFeed ? nil : run.inputID))
  }

  private func gave(
    _ action: Machine.Action, _ run: EffectRunner<Machine.Action>.Run, isFailure: Bool = false
  ) {
    if observers.isEmpty, runner.environment.effects == nil { return }
    let isFailure = isFailure || run.work.failing?.isFailure(action) ?? false
    if isFailure { runner.failed(run) }
    observers.gave(action, run.operation, isFailure: isFailure, revision)
  }

  func becameFeed(_ number: RunNumber, giving action: Machine.Action) {
    guard let run = runner.run(number) else { return }
    let replaced = runner.cancelFeeds(before: run)
    cancelled(replaced)
    gave(action, run)
    fold(action, for: run.inputID)
    if runner.becameFeed(run) { settled(run.inputID, cancelled: false) }
  }

  /// Ends work that was cancelled.
  func cancelled(_ runs: [EffectRunner<Machine.Action>.Run]) {
    for run in runs {
      endParts(of: run)
      if let action = run.work.cancelled { observers.gave(action, run.operation, revision) }
      observers.ended(run.operation, .cancelled, revision)
    }
    for run in runs {
      // Folded before the callbacks are called, so that a subscribed client receives the update
      // before the response.
      if let action = run.work.cancelled { fold(action, for: run.isFeed ? nil : run.inputID) }
      if !run.isFeed {
        if run.work.exchange != nil,
          let replies = inputIDs.exchangeEnded(run.inputID, changed: false)
        {
          respond(replies)
        }
        settled(run.inputID, cancelled: true)
      } else if let next = run.next {
        dropped(next)
      }
    }
  }

  /// Drops an effect that waited for the end of a window.
  func dropped(_ next: EffectRunner<Machine.Action>.Next) {
    if let action = next.wait?.cancelled { fold(action, for: next.inputID) }
    settled(next.inputID, cancelled: true)
  }

  /// Ends the parts that have not reported their end before their work.
  private func endParts(of run: EffectRunner<Machine.Action>.Run) {
    for part in run.parts.reversed() { observers.ended(part, .cancelled, revision) }
  }
}

// MARK: - Ending

extension Store {
  /// Calls `body` once when all effects of an input have ended, immediately if they have ended
  /// already.
  public func whenSettled(_ inputID: InputID, _ body: @escaping (Completion) -> Void) {
    if inputIDs.isSettled(inputID) {
      body(Completion(revision: revision, phase == .closed ? .closed : .settled))
    } else {
      inputIDs.wait(for: inputID, body)
    }
  }

  /// True if no exchange delays the response to an input.
  public func isReplied(_ inputID: InputID) -> Bool { inputIDs.isReplied(inputID) }

  /// Calls `body` once when the exchanges of an input have ended, which must not have ended.
  public func whenReplied(_ inputID: InputID, _ body: @escaping (Completion) -> Void) {
    inputIDs.waitForReply(to: inputID, body)
  }

  /// Notes that a request gets its response when all effects of an input have ended.
  public func respondsAtEnd(of inputID: InputID) { inputIDs.respondsAtEnd(of: inputID) }

  /// True after the store was closed.
  public var isClosed: Bool { phase == .closed }

  /// The tasks of all work that has not ended, including cancelled work.
  public var unfinished: [Task<Void, Never>] { runner.unfinished }

  /// Closes the store: cancels its effects, calls the callbacks that wait for them, and removes its
  /// listeners.
  ///
  /// - Returns: The tasks that were cancelled and have not ended yet.
  @discardableResult
  public func close() -> [Task<Void, Never>] {
    guard phase != .closed else { return [] }
    phase = .closed
    for run in runner.cancelAll() {
      endParts(of: run)
      observers.ended(run.operation, .cancelled, revision)
    }
    _ = listeners.removeAll()
    let open = inputIDs.closeAll()
    if let performing, !open.contains(where: { $0.inputID == performing }) {
      observers.ended(.input(performing), .cancelled, revision)
    }
    for (inputID, waiters) in open {
      observers.ended(.input(inputID), .cancelled, revision)
      for waiter in waiters {
        waiter(Completion(revision: revision, .closed))
      }
    }
    observers.closed(revision)
    audiences?.removeAll()
    return runner.unfinished
  }

  /// Notes that one of the effects that an input waits for has ended.
  func settled(_ inputID: InputID, cancelled: Bool) {
    guard let (waiters, end) = inputIDs.ended(inputID), inputID != performing else { return }
    record?.settled(inputID)
    if !effectsWithoutInput.isEmpty { effectsWithoutInput.remove(inputID) }
    observers.ended(.input(inputID), cancelled ? .cancelled : .finished, revision)
    for waiter in waiters {
      waiter(Completion(revision: revision, end, wasCancelled: cancelled))
    }
  }
}
