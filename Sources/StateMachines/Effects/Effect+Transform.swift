// SPDX-License-Identifier: Apache-2.0

extension Effect {
  /// Returns the same effect with each action transformed; an action for which `transform` returns
  /// nil is dropped.
  public func compactMap<Other: Sendable>(
    _ transform: @escaping @Sendable (Action) -> Other?
  ) -> Effect<Other> {
    transformed(by: EffectTransform(action: transform, original: { _ in nil }))
  }

  /// Returns the same effect for a store with another type of actions.
  func transformed<Other>(by transform: EffectTransform<Action, Other>) -> Effect<Other> {
    switch step {
    case .none:
      .none
    case .action(let action):
      transform.action(action).map { .action($0) } ?? .none
    case .named(let action, let name, let failing):
      if let action = transform.action(action), let failing = transform.failing(failing) {
        Effect<Other>(step: .named(action, transform.prefix + name, failing))
      } else {
        // Hooks still see the operation begin and end if the action is dropped.
        Effect<Other>(
          step: .operation(
            .immediate(transform.prefix + name, transform.failing(failing)),
            transform.action(action).map { .action($0) } ?? .none))
      }
    case .several(let effects):
      .several(effects.map { $0.transformed(by: transform) })
    case .cancel(let id, let feeds):
      Effect<Other>(step: .cancel(transform.id(id), feeds: feeds))
    case .work(let work):
      Effect<Other>(step: .work(work.transformed(by: transform)))
    case .operation(let work, let effect):
      Effect<Other>(
        step: .operation(work.transformed(by: transform), effect.transformed(by: transform)))
    case .put(let delay, let work, let effect):
      Effect<Other>(
        step: .put(
          off: delay.changingWindow(transform.id), work.transformed(by: transform),
          effect.transformed(by: transform)))
    case .deferred(let make):
      Effect<Other>(
        step: .deferred { make($0.narrowed(by: transform.narrowed)).transformed(by: transform) })
    }
  }
}

/// A change of an effect to one of another store: of its actions, ids, names and state.
struct EffectTransform<Action: Sendable, Other: Sendable>: Sendable {
  /// Returns the action of the other store; nil drops the action.
  let action: @Sendable (Action) -> Other?
  /// Returns the action that was transformed into an action of the other store; nil if there is
  /// none or it is not known.
  let original: @Sendable (Other) -> Action?
  /// The text before each id and each name of an operation.
  var prefix = ""
  /// Returns the part of the other store's state that effects read; nil if it is absent. Nil for
  /// the same state.
  var narrowed: StateNarrowing?
  /// True if the part can be absent, so that the effect ends then.
  var canVanish = false
  /// The member that contains the inputs of a child machine; nil for a machine itself.
  var label: KeptLabel?

  func id(_ id: EffectID) -> EffectID { prefix.isEmpty ? id : EffectID(prefix + id.description) }

  /// Transforms the failure; nil if the failure action is dropped, because then no fault can be
  /// injected.
  func failing(_ failing: Failing<Action>) -> Failing<Other>? {
    action(failing.failure).map { failure in
      Failing<Other>(failure: failure) { [original] in
        original($0).map(failing.isFailure) ?? false
      }
    }
  }
}

/// A function from the state of a store to a part of it; nil if the part is absent.
typealias StateNarrowing = @Sendable (any Sendable) -> (any Sendable)?

extension Work {
  func transformed<Other>(by transform: EffectTransform<Action, Other>) -> Work<Other> {
    let changed: Work<Other>.Body
    if hasAttempts {
      changed = { [body, failing] context in
        await context.attempts(failingBy: failing?.failure) {
          await body($0.pullback(by: transform))
        }
      }
    } else {
      changed = { [body] in await body($0.pullback(by: transform)) }
    }
    var changedExchange: Work<Other>.Exchange?
    if let exchange { changedExchange = { exchange($0.pullback(by: transform)) } }
    var isPresent = isPresent
    if let narrowed = transform.narrowed, transform.canVanish || isPresent != nil {
      isPresent = { [isPresent] state in narrowed(state).map { isPresent?($0) ?? true } ?? false }
    }
    return Work<Other>(
      name: transform.prefix + name, id: id.map(transform.id), isFeed: isFeed, isKept: isKept,
      began: began, cancelled: cancelled.flatMap(transform.action), queue: queue.map(transform.id),
      dependents: dependents.map(transform.id),
      failing: failing.flatMap(transform.failing), hasMetFault: hasMetFault, isPresent: isPresent,
      hasAttempts: hasAttempts, needsOnlyClock: needsOnlyClock,
      exchange: changedExchange, body: changed)
  }
}

extension Delay {
  fileprivate func changingWindow(_ change: (EffectID) -> EffectID) -> Delay {
    switch self {
    case .after: self
    case .debounced(let window, let time, let firstImmediately):
      .debounced(window: change(window), time, firstImmediately: firstImmediately)
    case .throttled(let window, let time, let throttling):
      .throttled(window: change(window), time, throttling)
    }
  }
}
