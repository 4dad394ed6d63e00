// SPDX-License-Identifier: Apache-2.0

// Effects with names, ids and queues.

extension Effect {
  /// Returns the same effect, which `.cancel(id)` can cancel.
  public func cancellable(_ id: EffectID) -> Effect { mapWork { $0.changing(id: id) } }

  /// Returns the same effect, which first cancels earlier effects with its id, so that only the
  /// newest one gives actions.
  ///
  /// Immediate effects do this too: a result that is available immediately cancels a slower one.
  public func latest(_ id: EffectID) -> Effect { .several(.cancel(id), cancellable(id)) }

  /// Returns the same effect, which first cancels earlier effects with its id that are not feeds.
  ///
  /// For work that ends with `becomeFeed`: the running feed continues until the new one takes over,
  /// so that nothing is missed if the new one is cancelled before.
  public func refreshing(_ id: EffectID) -> Effect {
    .several(Effect(step: .cancel(id, feeds: false)), cancellable(id))
  }

  /// Returns the same effect, whose feeds do not begin while a feed with their id runs: the running
  /// one continues.
  ///
  /// For a feed that several inputs need and none owns, such as ticks that each tap on "start" asks
  /// for. If the new feed differs from the running one, use `latest` or another id.
  public func unlessRunning() -> Effect { mapWork { $0.changing(isKept: true) } }

  /// Returns the same effect; `action` is folded if it is cancelled by its id or with its input.
  ///
  /// The action is not folded when the store closes. It is meant for states that show a running
  /// operation.
  public func onCancel(_ action: Action) -> Effect { mapWork { $0.changing(cancelled: action) } }

  /// Returns the same effect, whose work runs in a queue: it begins when all earlier work of the
  /// queue has returned.
  ///
  /// For work whose order matters, such as writes to a service. Several pieces of work of one effect
  /// run one after another too. Work that is cancelled while it waits never begins; cancelled work
  /// that still runs is waited for. Immediate effects and feeds do not wait.
  ///
  /// - Parameter queue: The id of the queue within the store.
  public func serial(_ queue: EffectID) -> Effect { mapOwnWork { $0.changing(queue: queue) } }

  /// Returns the same effect; if it is cancelled with its input, the running effects with the given
  /// id are cancelled after it.
  ///
  /// If it is cancelled by its own id, the other effects continue: a newer effect may be about to
  /// replace it.
  public func cancellingWithInput(_ id: EffectID) -> Effect {
    mapWork { $0.changing(dependents: id) }
  }

  /// Returns the same effect, which calls `body` when its work begins, before any later work of the
  /// store begins.
  ///
  /// `body` is not called if the work is cancelled before it begins. Work begins immediately, or
  /// when the host of the store permits it (`AnyStore.delayWork(by:)`). A server permits it at the
  /// end of the turn, after it has delivered the bytes of the turn; if the store is journaled, also
  /// not before the input is durable. After the call the task of the work starts when a thread is
  /// free, even if the work is cancelled meanwhile.
  public func onBegin(_ body: @escaping @Sendable () -> Void) -> Effect {
    mapWork { $0.changing(began: body) }
  }

  /// Returns the same effect as one named operation that can fail; hooks and traces show its
  /// beginning and its end.
  ///
  /// - Parameters:
  ///   - name: The name of the operation for hooks, traces and injected faults.
  ///   - failure: The action that it gives when a fault is injected.
  ///   - isFailure: Returns true for an action that stands for a failure of the operation.
  public func operation(
    _ name: String, failing failure: Action,
    when isFailure: @escaping @Sendable (Action) -> Bool
  ) -> Effect {
    operation(name, Failing(failure: failure, isFailure: isFailure))
  }

  /// Returns the same effect as one named operation; see `operation(_:failing:when:)`.
  public func operation(_ name: String, _ failing: Failing<Action>) -> Effect {
    if case .action(let action) = step {
      return Effect(step: .named(action, name, failing))
    }
    func named(_ work: Work<Action>) -> Work<Action> {
      work.changing(name: name, failing: failing)
    }
    func named(_ effect: Effect) -> Effect {
      effect.operation(name, failing)
    }
    return switch step {
    case _ where isImmediate:
      Effect(step: .operation(.immediate(name, failing), self))
    case .none, .action, .cancel:
      self
    case .named(let action, _, _):
      Effect(step: .named(action, name, failing))
    case .several(let effects):
      .several(Self.naming(effects, by: named))
    case .work(let work):
      Effect(step: .work(named(work)))
    case .operation(let work, let effect):
      Effect(step: .operation(named(work), effect))
    case .put(let delay, let work, let effect):
      Effect(step: .put(off: delay, work, named(effect)))
    case .deferred(let make):
      Effect(step: .deferred { make($0).operation(name, failing) })
    }
  }

  /// Names the parts of several effects that belong to the operation, if not all of them are
  /// immediate.
  private static func naming(
    _ effects: [Effect], by name: (Effect) -> Effect
  ) -> [Effect] {
    let cancels = effects.prefix(while: \.isCancel)
    let rest = effects.dropFirst(cancels.count)
    // An immediate effect with `latest`: the cancellation is not a part of the operation.
    if !rest.isEmpty, rest.allSatisfy(\.isImmediate) {
      return Array(cancels) + [name(.several(Array(rest)))]
    }
    // Immediate effects beside work prepare it; they are not the operation.
    return effects.map { $0.isImmediate ? $0 : name($0) }
  }

  private var isCancel: Bool { if case .cancel = step { true } else { false } }

  private var isImmediate: Bool {
    switch step {
    case .none, .action: true
    case .several(let effects): effects.allSatisfy(\.isImmediate)
    case .named, .work, .cancel, .operation, .put, .deferred: false
    }
  }

  /// Returns the same effect with all its work changed, except waits and the work of immediate
  /// effects.
  func mapOwnWork(_ change: @escaping @Sendable (Work<Action>) -> Work<Action>) -> Effect {
    switch step {
    case .none, .action, .named, .cancel, .operation: self
    case .several(let effects): .several(effects.map { $0.mapOwnWork(change) })
    case .work(let work): Effect(step: .work(change(work)))
    case .put(let delay, let wait, let effect):
      Effect(step: .put(off: delay, wait, effect.mapOwnWork(change)))
    case .deferred(let make): Effect(step: .deferred { make($0).mapOwnWork(change) })
    }
  }

  /// Returns the same effect with all its work changed, including waits.
  func mapWork(_ change: @escaping @Sendable (Work<Action>) -> Work<Action>) -> Effect {
    switch step {
    case .none, .action, .cancel: self
    case .named(let action, let name, let failing):
      Effect(step: .operation(change(.immediate(name, failing)), .action(action)))
    case .several(let effects): .several(effects.map { $0.mapWork(change) })
    case .work(let work): Effect(step: .work(change(work)))
    case .operation(let work, let effect): Effect(step: .operation(change(work), effect))
    case .put(let delay, let work, let effect):
      Effect(step: .put(off: delay, change(work), effect.mapWork(change)))
    case .deferred(let make): Effect(step: .deferred { make($0).mapWork(change) })
    }
  }
}

extension Effect where Action: Equatable {
  /// Returns the same effect as one named operation; see `operation(_:failing:when:)`.
  public func operation(_ name: String, failing failure: Action) -> Effect {
    operation(name, failing: failure) { $0 == failure }
  }
}
