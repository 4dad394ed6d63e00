// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

// Effects of a store, and how they begin.

extension Store {
  func perform(_ effect: Effect<Machine.Action>, for inputID: InputID) {
    // After a step that closed the store, or whose action was taken back, no later step is
    // performed.
    guard phase == .folding, failure == nil || performing == nil else { return }
    switch effect.step {
    case .none:
      break
    case .action(let action):
      observers?.produced(action, .input(inputID), revision)
      fold(action, for: inputID)
    case .named(let action, _, _) where observers == nil && runner.environment.faults == nil:
      fold(action, for: inputID)
    case .named(let action, let name, let failing):
      perform(.immediate(name, failing), giving: .action(action), for: inputID)
    case .operation(_, let effect) where observers == nil && runner.environment.faults == nil:
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
    observers?.began(run.operation, revision)
    if !run.isFeed { inputIDs.began(inputID, isExchange: work.exchange != nil) }
  }

  /// Reports a feed that has not begun, because a feed with its id runs.
  private func runsAlready(_ id: EffectID) {
    observers?.tested(.runsAlready(id))
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
    if observers == nil { return perform(effect, for: inputID) }
    let operation = runner.nextOperation(work.name)
    observers?.began(operation, revision)
    var hasFailed = false
    effect.forEachAction { action in
      let isFailure = work.failing?.isFailure(action) ?? false
      hasFailed = hasFailed || isFailure
      observers?.produced(action, operation, isFailure: isFailure, revision)
    }
    perform(effect, for: inputID)
    observers?.ended(operation, hasFailed ? .failed : .finished, revision)
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
  /// The error message for a machine that begins a second feed with this id while one runs.
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
