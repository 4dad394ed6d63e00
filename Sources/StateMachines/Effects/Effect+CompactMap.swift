// SPDX-License-Identifier: Apache-2.0

extension Effect {
  /// Returns the same effect with each action transformed; an action for which `transform` returns
  /// nil is dropped.
  public func compactMap<Other: Sendable>(
    _ transform: @escaping @Sendable (Action) -> Other?
  ) -> Effect<Other> {
    switch step {
    case .none:
      .none
    case .action(let action):
      transform(action).map { .action($0) } ?? .none
    case .named(let action, let name, let failing):
      if let action = transform(action), let failing = failing.compactMap(transform) {
        Effect<Other>(step: .named(action, name, failing))
      } else {
        // Hooks still see the operation begin and end if the action is dropped.
        Effect<Other>(
          step: .operation(
            .immediate(name, failing.compactMap(transform)),
            transform(action).map { .action($0) } ?? .none))
      }
    case .several(let effects):
      .several(effects.map { $0.compactMap(transform) })
    case .cancel(let id, let feeds):
      Effect<Other>(step: .cancel(id, feeds: feeds))
    case .work(let work):
      Effect<Other>(step: .work(work.compactMap(transform)))
    case .operation(let work, let effect):
      Effect<Other>(
        step: .operation(work.compactMap(transform), effect.compactMap(transform)))
    case .put(let delay, let work, let effect):
      Effect<Other>(
        step: .put(off: delay, work.compactMap(transform), effect.compactMap(transform)))
    case .deferred(let make):
      Effect<Other>(step: .deferred { make($0).compactMap(transform) })
    }
  }
}

extension Work {
  fileprivate func compactMap<Other: Sendable>(
    _ transform: @escaping @Sendable (Action) -> Other?
  ) -> Work<Other> {
    let body = body
    return Work<Other>(
      name: name, id: id, isFeed: isFeed, began: began,
      cancelled: cancelled.flatMap(transform), dependents: dependents,
      failing: failing.flatMap { $0.compactMap(transform) }, hasMetFault: hasMetFault
    ) { await body($0.pullback(transform)) }
  }
}

extension Failing {
  /// Transforms the failure; nil if `transform` drops the failure action, because then no fault can
  /// be injected.
  ///
  /// No other action of the result counts as a failure, because an action cannot be transformed
  /// back.
  fileprivate func compactMap<Other: Sendable>(
    _ transform: @escaping @Sendable (Action) -> Other?
  ) -> Failing<Other>? {
    transform(failure).map { Failing<Other>(failure: $0) { _ in false } }
  }
}
