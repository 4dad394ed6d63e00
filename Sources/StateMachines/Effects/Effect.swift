// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The effect of an input, as a value: the store performs it, and it cannot fail.
///
/// - `none` and `action`, and `several` of these, are *immediate*: they are folded before the
///   response to their input.
/// - `run` is asynchronous work; its actions are folded in the order in which they arrive.
/// - `feed` is work that lasts as long as the store, for example a change stream. An input is
///   settled without waiting for its feeds.
/// - `after`, `debounced` and `throttled` postpone an effect.
///
/// Work reports a failure by an action.
public struct Effect<Action: Sendable>: Sendable {
  /// The cases, for the store that performs them.
  enum Step: Sendable {
    case none
    case action(Action)
    /// An action with the name of an operation: the same as `operation`, without the work. Most
    /// inputs of a list in memory give one.
    case named(Action, String, Failing<Action>)
    case several([Effect])
    case work(Work<Action>)
    case cancel(EffectID, feeds: Bool)
    /// An immediate effect with the name of an operation. The work is performed instead if a fault
    /// delays the operation.
    indirect case operation(Work<Action>, Effect)
    /// A postponed effect; the work is the wait.
    indirect case put(off: Delay, Work<Action>, Effect)
    case deferred(@Sendable (EffectMoment) -> Effect)
  }

  let step: Step
}

extension Effect {
  /// No effect.
  public static var none: Effect { Effect(step: .none) }

  /// Returns an effect of one action, folded immediately.
  public static func action(_ action: Action) -> Effect { Effect(step: .action(action)) }

  /// Returns an effect of one action, folded immediately, that is the result of a named operation.
  public static func action(
    _ action: Action, operation name: String, _ failing: Failing<Action>
  ) -> Effect {
    Effect(step: .named(action, name, failing))
  }

  /// Returns several effects that begin in this order; immediate effects are folded in this order.
  public static func several(_ effects: [Effect]) -> Effect { Effect(step: .several(effects)) }

  /// Returns several effects that begin in this order; immediate effects are folded in this order.
  public static func several(_ effects: Effect...) -> Effect { several(effects) }

  /// Returns work that runs off the event loop and sends actions while it runs.
  ///
  /// - Parameters:
  ///   - name: The name of the operation for hooks, traces and injected faults.
  ///   - id: The id for `.cancel(id)`, as with `cancellable(_:)`.
  ///   - cancelled: The action to fold if the work is cancelled, as with `onCancel(_:)`.
  ///   - failing: The way in which the work fails, as with `operation(_:_:)`; nil if it cannot
  ///     fail.
  ///   - work: The work; it ends when it returns. Actions that it sends after its task was
  ///     cancelled are dropped.
  public static func run(
    _ name: String, id: EffectID? = nil, onCancel cancelled: Action? = nil,
    failing: Failing<Action>? = nil,
    _ work: @escaping @Sendable (EffectContext<Action>) async -> Void
  ) -> Effect {
    Effect(
      step: .work(Work(name: name, id: id, cancelled: cancelled, failing: failing, body: work)))
  }

  /// Returns work that lasts as long as the store. Inputs are settled without waiting for it.
  ///
  /// While a feed with this id runs, another one is an error of the machine and does not begin. With
  /// `latest` it replaces the running one, with `unlessRunning` the running one continues.
  public static func feed(
    _ id: EffectID, _ work: @escaping @Sendable (EffectContext<Action>) async -> Void
  ) -> Effect {
    Effect(step: .work(Work(name: id.description, id: id, isFeed: true, body: work)))
  }

  /// Returns an effect that is made when it is performed, with the store's clock.
  public static func deferred(
    _ make: @escaping @Sendable (any StoreClock) -> Effect
  ) -> Effect {
    Effect(step: .deferred { make($0.clock) })
  }

  /// Returns an effect that is made when it is performed, with the id of its operation.
  ///
  /// For writes to storage that outlives the process. If the storage performs a write only once per
  /// id, the write can be run again after a restart, even if it was performed before.
  ///
  /// - Parameter make: Makes the effect. All effects of one input get the same id. The id is nil if
  ///   the store is not recorded or the effect belongs to no input, because such an effect is not
  ///   restarted.
  public static func identified(
    _ make: @escaping @Sendable (OperationID?) -> Effect
  ) -> Effect {
    Effect(step: .deferred { make($0.operation) })
  }

  /// Returns an effect that is made when it is performed, with an id of one part of its operation.
  ///
  /// For an input that makes several writes. Writes with one name are numbered in the order in which
  /// they are performed, so after a restart the input must begin those of one name in the same order.
  ///
  /// - Parameters:
  ///   - part: A name of the write, for example of what it writes to.
  ///   - make: Makes the effect. The id is nil where that of `identified` is.
  public static func identified(
    part: String, _ make: @escaping @Sendable (String?) -> Effect
  ) -> Effect {
    Effect(
      step: .deferred { moment in
        make(
          moment.operation.map { operation in
            "\(operation) \(part) \(moment.store.count(part, of: operation))"
          })
      })
  }

  /// Returns an effect that cancels the running effects with an id. It is not an error if there are
  /// none.
  public static func cancel(_ id: EffectID) -> Effect {
    Effect(step: .cancel(id, feeds: true))
  }
}

extension Effect {
  /// Returns this effect and then another one.
  func before(_ other: Effect) -> Effect {
    switch (step, other.step) {
    case (.none, _): other
    case (_, .none): self
    default: .several(self, other)
    }
  }
}
