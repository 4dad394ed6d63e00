// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

// The effects that a program describes, as effects of the engine.
extension ProcessMachine {
  /// Returns the effects that the program has described now.
  func begin(_ effects: [PendingEffect], in state: State) -> [Effect<Action>] {
    let interval = state.leastInterval(beginning: effects)
    return effects.map { effect($0, isNew: true, interval) }
  }

  /// Returns the effects that had not ended before a restart.
  func resume(in state: State) -> [Effect<Action>] {
    let interval = state.leastInterval(beginning: state.pending)
    return state.pending.map { effect($0, isNew: false, interval) }
  }

  /// - Parameter leastInterval: The least interval of a repeated effect, in milliseconds.
  private func effect(
    _ pending: PendingEffect, isNew: Bool, _ leastInterval: Int
  ) -> Effect<Action> {
    let (key, described) = (pending.key, pending.effect)
    let id = described.id.map { Self.id($0) }
    switch described.type {
    case .cancel:
      return described.id.map {
        .several([.cancel(Self.debounce($0)), .cancel(Self.throttle($0)), .cancel(Self.id($0))])
      } ?? .none
    case .every:
      guard let id, let action = described.action, let time = described.milliseconds else {
        return .none
      }
      return .ticks(id, every: .milliseconds(max(time, leastInterval))) {
        .act(action, of: key, .tick, nil)
      }.unlessRunning().onCancel(.dropped(key))
    case .after:
      guard let action = described.action, let time = described.milliseconds else { return .none }
      let effect = Effect.action(Action.act(action, of: key, .end, nil))
      return .deferred { clock in
        let left = isNew ? time : time - (clock.milliseconds - pending.since)
        return Effect.after(.milliseconds(min(max(0, left), time)), effect).named(id, key)
      }
    case .action:
      guard let action = described.action else { return .none }
      var effect = Effect.action(Action.act(action, of: key, .end, nil))
      if let name = described.name { effect = effect.operation(name, Self.failing(key)) }
      if described.latest == true, let id { return effect.latest(id).onCancel(.dropped(key)) }
      return effect.named(id, key)
    case .run:
      if !isNew, described.restart != .again {
        let message = "the server was restarted"
        return .action(.failed(key: key, ActionFailure(reason: .interrupted, message: message)))
      }
      return work(pending).onCancel(.dropped(key))
    }
  }

  private func work(_ pending: PendingEffect) -> Effect<Action> {
    let (key, described) = (pending.key, pending.effect)
    let attempts = Lock(0)
    var effect = Effect<Action>.run(described.name ?? "", failing: Self.failing(key)) {
      [store] context in
      let attempt = attempts.withLock { count in
        count += 1
        return count
      }
      for await event in store.run(pending, attempt: attempt) {
        switch event {
        case .action(let action): await context.send(.act(action, of: key, .work, nil))
        case .ended(let action?): await context.send(.act(action, of: key, .end, nil))
        case .ended(nil): await context.send(.dropped(key))
        case .failed(let failure): await context.send(.failed(key: key, failure))
        }
      }
    }
    if let retry = described.retry {
      effect = effect.retried(
        attempts: retry.attempts,
        backoff: .exponential(
          base: .milliseconds(retry.milliseconds), maximum: .seconds(86_400)))
    }
    if let timeout = described.timeout {
      let failure = ActionFailure(reason: .timeout, message: "the work took too long")
      effect = effect.timeout(
        after: .milliseconds(timeout), .failed(key: key, failure))
    }
    if let queue = described.serial { effect = effect.serial(EffectID("q:\(queue)")) }
    guard let id = described.id else { return effect }
    effect =
      described.latest == true ? effect.latest(Self.id(id)) : effect.cancellable(Self.id(id))
    if let time = described.debounce {
      effect = effect.debounced(Self.debounce(id), for: .milliseconds(time))
    } else if let time = described.throttle {
      effect = effect.throttled(Self.throttle(id), for: .milliseconds(time), keeping: .latest)
    }
    return effect
  }

  private static func id(_ id: String) -> EffectID { EffectID("e:\(id)") }

  // The ids of the work that waits. Others than that of work that runs, which only `latest` and
  // `cancel` end; and one for each policy, because a time of one does not delay work of the other.

  private static func debounce(_ id: String) -> EffectID { EffectID("d:\(id)") }
  private static func throttle(_ id: String) -> EffectID { EffectID("t:\(id)") }

  private static func failing(_ key: Int) -> Failing<Action> {
    Failing(
      failure: .failed(
        key: key, ActionFailure(reason: .fault, message: "a test has injected a fault"))
    ) { action in
      if case .failed = action { true } else { false }
    }
  }
}

extension Effect<ProcessAction> {
  /// Returns the effect with its id, if it has one, which ends its entry in the state if it is
  /// cancelled.
  fileprivate func named(_ id: EffectID?, _ key: Int) -> Effect {
    (id.map { cancellable($0) } ?? self).onCancel(.dropped(key))
  }
}

extension StoreClock {
  /// The time in milliseconds since 1970.
  var milliseconds: Int {
    Int(clamping: sinceEpoch.attoseconds / Duration.milliseconds(1).attoseconds)
  }
}
