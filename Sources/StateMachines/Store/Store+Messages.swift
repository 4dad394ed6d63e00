// SPDX-License-Identifier: Apache-2.0

// Messages from running work of a store.

extension Store {
  /// Makes work wait from now on; see `AnyStore.delayWork`.
  public func delayWork(by hold: @escaping (@escaping () -> Void) -> Void) {
    runner.delayWork(by: hold)
  }

  /// Handles a message from running work of this store.
  public func receive(_ message: EffectMessage) {
    // The actions and effects of the message belong to the span of its work.
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
      observers?.tested(.refusal(refusal))
      guard !inputIDs.refuse(run.inputID, refusal), let action = action as? Machine.Action
      else { return }
      give(action, run)
    case .becameFeed(let action):
      guard phase != .closed, let action = action as? Machine.Action else { return }
      take(.becameFeed(action, message.run))
    case .partBegan(let part):
      if runner.partBegan(part, of: message.run) { observers?.began(part, revision) }
    case .partEnded(let part, let end):
      if runner.partEnded(part, of: message.run) { observers?.ended(part, end, revision) }
    case .ended:
      guard let run = runner.ended(message.run) else { return }
      endParts(of: run)
      observers?.ended(run.operation, run.hasFailed ? .failed : .finished, revision)
      if let next = run.next {
        // The wait counts for its input until the effect after it has begun.
        take(.next(next))
      } else if !run.isFeed {
        settled(run.inputID, cancelled: false)
      }
    case .replied(let action, let refusal):
      guard runner.run(message.run) != nil else {
        // It was cancelled, and the work after it in its queue has waited for this.
        _ = runner.ended(message.run)
        return
      }
      take(.replied(message.run, action as? Machine.Action, refusal))
    }
  }

  /// Handles the reply to an exchange.
  func replied(_ number: RunNumber, _ action: Machine.Action?, _ refusal: InputRefusal?) {
    guard let run = runner.run(number) else { return }
    let inputID = run.inputID
    var change: StateMark?
    listeners.server?.willReply()
    if let refusal {
      observers?.tested(.refusal(refusal))
      _ = inputIDs.refuse(inputID, refusal)
    }
    if let action {
      produced(action, run)
      // The exchanges that the action causes begin before this one ends, so that the response waits
      // for them.
      change = changing(inputID, isLast: !inputIDs.hasOtherEffect(inputID)) {
        fold(action, for: inputID)
        if !followUps.isEmpty { performFollowUps() }
      }
    }
    guard phase != .closed, runner.ended(number) != nil else {
      listeners.server?.didReply(to: inputID, isLast: false, isRefused: false)
      return
    }
    observers?.ended(run.operation, refusal == nil ? .finished : .failed, revision)
    let replies = inputIDs.exchangeEnded(inputID, changing: change)
    listeners.server?.didReply(
      to: inputID, isLast: replies != nil, isRefused: refusal != nil)
    if let replies { respond(replies) }
    settled(inputID, cancelled: false)
  }

  private func respond(_ replies: InputIDs.Replies) {
    for waiter in replies.waiters {
      waiter(Completion(revision: revision, replies.end, base: replies.base))
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
    produced(action, run, isFailure: isFailure)
    take(.action(action, run.isFeed ? nil : run.inputID))
  }

  private func produced(
    _ action: Machine.Action, _ run: EffectRunner<Machine.Action>.Run, isFailure: Bool = false
  ) {
    if observers == nil, runner.environment.effects == nil { return }
    let isFailure = isFailure || run.work.failing?.isFailure(action) ?? false
    if isFailure { runner.failed(run) }
    observers?.produced(action, run.operation, isFailure: isFailure, revision)
  }

  func becameFeed(_ number: RunNumber, giving action: Machine.Action) {
    guard let run = runner.run(number) else { return }
    let replaced = runner.cancelFeeds(before: run)
    cancelled(replaced)
    produced(action, run)
    fold(action, for: run.inputID)
    if runner.becameFeed(run) { settled(run.inputID, cancelled: false) }
  }

  /// Ends work that was cancelled.
  func cancelled(_ runs: [EffectRunner<Machine.Action>.Run]) {
    for run in runs {
      endParts(of: run)
      if let action = run.work.cancelled { observers?.produced(action, run.operation, revision) }
      observers?.ended(run.operation, .cancelled, revision)
    }
    for run in runs {
      // Folded before the callbacks are called, so that a subscribed client receives the update
      // before the response.
      if let action = run.work.cancelled { fold(action, for: run.isFeed ? nil : run.inputID) }
      if !run.isFeed {
        if run.work.exchange != nil,
          let replies = inputIDs.exchangeEnded(run.inputID, changing: nil)
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
  func endParts(of run: EffectRunner<Machine.Action>.Run) {
    for part in run.parts.reversed() { observers?.ended(part, .cancelled, revision) }
  }
}
