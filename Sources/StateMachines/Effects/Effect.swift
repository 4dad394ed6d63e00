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

/// The id of a running effect within its store, to cancel or replace the effect.
///
/// Ids are equal if their UTF-8 bytes are equal: they may contain ids that a client sends.
public struct EffectID: Hashable, Sendable, ExpressibleByStringInterpolation,
  CustomStringConvertible
{
  /// The text of the id.
  public let description: String
  /// Creates an id from a text.
  public init(_ name: String) { description = name }
  /// Creates an id from a literal.
  public init(stringLiteral value: String) { self.init(value) }

  /// Compares the UTF-8 bytes of two ids.
  public static func == (one: EffectID, other: EffectID) -> Bool {
    one.description.hasSameBytes(as: other.description)
  }

  /// Hashes the UTF-8 bytes of the id.
  public func hash(into hasher: inout Hasher) {
    description.withUTF8Bytes { hasher.combine(bytes: $0) }
  }
}

/// Asynchronous work, with its relation to other work of the same id.
///
/// A class, because effects are copied often and their work is read rarely.
final class Work<Action: Sendable>: Sendable {
  typealias Body = @Sendable (EffectContext<Action>) async -> Void

  let name: String
  let id: EffectID?
  let isFeed: Bool
  /// True if the feed does not begin while another one with its id runs; otherwise that is an error.
  let isKept: Bool
  let began: (@Sendable () -> Void)?
  let cancelled: Action?
  /// The queue in which the work waits for other work; nil if it begins immediately.
  let queue: EffectID?
  /// The id of other effects that are cancelled when this work is cancelled with its input.
  let dependents: EffectID?
  /// The way in which the work fails; nil if it is not an operation that can fail.
  let failing: Failing<Action>?
  /// True if the injected fault for this work has been applied already.
  let hasMetFault: Bool
  /// Returns false for a state of the store in which the child machine of the work is absent; nil if
  /// that is impossible.
  let isPresent: (@Sendable (any Sendable) -> Bool)?
  /// True if `body` passes each attempt to `EffectContext.attempt`, because a policy may begin
  /// several, or none.
  let hasAttempts: Bool
  /// True if the work needs nothing but the store's clock.
  let needsOnlyClock: Bool
  /// Asks another party, which ends the work; nil for work with a task, which `body` does.
  let exchange: Exchange?
  let body: Body

  typealias Exchange = @Sendable (ExchangeReply<Action>) -> Void

  init(
    name: String, id: EffectID? = nil, isFeed: Bool = false, isKept: Bool = false,
    began: (@Sendable () -> Void)? = nil, cancelled: Action? = nil, queue: EffectID? = nil,
    dependents: EffectID? = nil,
    failing: Failing<Action>? = nil,
    hasMetFault: Bool = false, isPresent: (@Sendable (any Sendable) -> Bool)? = nil,
    hasAttempts: Bool = false, needsOnlyClock: Bool = false, exchange: Exchange? = nil,
    body: @escaping Body
  ) {
    self.name = name
    self.id = id
    self.isFeed = isFeed
    self.isKept = isKept
    self.began = began
    self.cancelled = cancelled
    self.queue = queue
    self.dependents = dependents
    self.failing = failing
    self.hasMetFault = hasMetFault
    self.isPresent = isPresent
    self.hasAttempts = hasAttempts
    self.needsOnlyClock = needsOnlyClock
    self.exchange = exchange
    self.body = body
  }

  /// Returns the same work with some properties changed; nil keeps the current value.
  func changing(
    name: String? = nil, id: EffectID? = nil, isFeed: Bool? = nil, isKept: Bool? = nil,
    began: (@Sendable () -> Void)? = nil,
    cancelled: Action? = nil, queue: EffectID? = nil, dependents: EffectID? = nil,
    failing: Failing<Action>? = nil,
    hasMetFault: Bool? = nil, hasAttempts: Bool? = nil, body: Body? = nil
  ) -> Work {
    Work(
      name: name ?? self.name, id: id ?? self.id, isFeed: isFeed ?? self.isFeed,
      isKept: isKept ?? self.isKept, began: began ?? self.began,
      cancelled: cancelled ?? self.cancelled,
      queue: queue ?? self.queue,
      dependents: dependents ?? self.dependents, failing: failing ?? self.failing,
      hasMetFault: hasMetFault ?? self.hasMetFault, isPresent: isPresent,
      hasAttempts: hasAttempts ?? self.hasAttempts, needsOnlyClock: needsOnlyClock,
      exchange: exchange,
      body: body ?? self.body)
  }

  /// Returns the work that replaces an immediate effect with the name of an operation if a fault
  /// delays it.
  static func immediate(_ name: String, _ failing: Failing<Action>?) -> Work {
    Work(name: name, failing: failing) { _ in }
  }
}

/// The way in which an operation fails: the action that it then gives, and a test that recognizes
/// failure actions.
///
/// A class, so that one instance can serve all operations that fail in the same way.
public final class Failing<Action: Sendable>: Sendable {
  let failure: Action
  let isFailure: @Sendable (Action) -> Bool

  /// Creates a description of failures.
  ///
  /// - Parameters:
  ///   - failure: The action that an operation gives when a fault is injected.
  ///   - isFailure: Returns true for an action that stands for a failure of the operation.
  public init(failure: Action, isFailure: @escaping @Sendable (Action) -> Bool) {
    self.failure = failure
    self.isFailure = isFailure
  }
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

// MARK: - Names

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

  /// True if the effect is at most one action that is immediate unless a fault delays it.
  var isSingle: Bool {
    switch step {
    case .none, .action, .named: true
    case .operation(_, let effect): effect.isSingle
    case .several, .work, .cancel, .put, .deferred: false
    }
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

  /// Returns the same effect with all its work changed, waits included.
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
