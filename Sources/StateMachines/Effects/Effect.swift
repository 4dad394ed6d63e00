// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// What an input sets off, as a value: the store performs it, and it cannot fail.
///
/// - `none`, `action` and `several` of those are *immediate*: they are folded before the answer to
///   their input.
/// - `run` is work that may wait; its actions are folded as they arrive, in completion order.
/// - `feed` is work that lasts as long as the store, a change stream say; nobody waits for its end.
/// - `after`, `debounced` and `throttled` put an effect off.
///
/// Work that fails says so with an action.
public struct Effect<Action: Sendable>: Sendable {
  /// The cases, for the store that performs them.
  enum Step: Sendable {
    case none
    case action(Action)
    /// An action with the name of an operation, as `operation` but for the work; most inputs of a list
    /// in memory are one.
    case named(Action, String, Failing<Action>)
    case several([Effect])
    case work(Work<Action>)
    case cancel(EffectID, feeds: Bool)
    /// An immediate effect with the name of an operation; the work is what it becomes if a fault
    /// delays it.
    indirect case operation(Work<Action>, Effect)
    /// An effect that is put off; the work is the wait.
    indirect case put(off: Delay, Work<Action>, Effect)
    case deferred(@Sendable (EffectMoment) -> Effect)
  }

  let step: Step
}

/// The name of a running effect within its store, to cancel or replace it by.
///
/// Names are equal if their UTF-8 bytes are: they may be made of ids that a frontend sends.
public struct EffectID: Hashable, Sendable, ExpressibleByStringInterpolation,
  CustomStringConvertible
{
  public let description: String
  public init(_ name: String) { description = name }
  public init(stringLiteral value: String) { self.init(value) }

  public static func == (one: EffectID, other: EffectID) -> Bool {
    one.description.hasSameBytes(as: other.description)
  }

  public func hash(into hasher: inout Hasher) {
    description.withUTF8Bytes { hasher.combine(bytes: $0) }
  }
}

/// Work that may wait, and how it gets on with other work of the same name.
///
/// An object, since an effect is copied often and its work seldom looked at.
final class Work<Action: Sendable>: Sendable {
  typealias Body = @Sendable (EffectContext<Action>) async -> Void

  let name: String
  let id: EffectID?
  let isFeed: Bool
  let began: (@Sendable () -> Void)?
  let cancelled: Action?
  /// What else is cancelled when this is cancelled with its input.
  let dependents: EffectID?
  /// How the work fails, if it is an operation that can.
  let failing: Failing<Action>?
  /// Whether it has met the fault that was meant for it.
  let isSpared: Bool
  let body: Body

  init(
    name: String, id: EffectID? = nil, isFeed: Bool = false, began: (@Sendable () -> Void)? = nil,
    cancelled: Action? = nil, dependents: EffectID? = nil, failing: Failing<Action>? = nil,
    isSpared: Bool = false, body: @escaping Body
  ) {
    self.name = name
    self.id = id
    self.isFeed = isFeed
    self.began = began
    self.cancelled = cancelled
    self.dependents = dependents
    self.failing = failing
    self.isSpared = isSpared
    self.body = body
  }

  /// The same work with some of it changed; nil leaves it as it is.
  func changing(
    name: String? = nil, id: EffectID? = nil, isFeed: Bool? = nil,
    began: (@Sendable () -> Void)? = nil,
    cancelled: Action? = nil, dependents: EffectID? = nil, failing: Failing<Action>? = nil,
    isSpared: Bool? = nil, body: Body? = nil
  ) -> Work {
    Work(
      name: name ?? self.name, id: id ?? self.id, isFeed: isFeed ?? self.isFeed,
      began: began ?? self.began, cancelled: cancelled ?? self.cancelled,
      dependents: dependents ?? self.dependents, failing: failing ?? self.failing,
      isSpared: isSpared ?? self.isSpared, body: body ?? self.body)
  }

  /// What an immediate effect with the name of an operation becomes if a fault delays it.
  static func immediate(_ name: String, _ failing: Failing<Action>?) -> Work {
    Work(name: name, failing: failing) { _ in }
  }
}

/// How an operation fails: with which action, and which of its actions say that it did.
///
/// An object, so that one that is made once serves all operations that fail in its way.
public final class Failing<Action: Sendable>: Sendable {
  let failure: Action
  let isFailure: @Sendable (Action) -> Bool

  /// - Parameters:
  ///   - failure: The action that an operation gives when a fault is injected.
  ///   - isFailure: Whether an action of its says that it has failed.
  public init(failure: Action, isFailure: @escaping @Sendable (Action) -> Bool) {
    self.failure = failure
    self.isFailure = isFailure
  }
}

extension Effect {
  /// Nothing.
  public static var none: Effect { Effect(step: .none) }

  /// One action, folded at once.
  public static func action(_ action: Action) -> Effect { Effect(step: .action(action)) }

  /// One action, folded at once, that is what an operation with a name gives.
  public static func action(
    _ action: Action, operation name: String, _ failing: Failing<Action>
  ) -> Effect {
    Effect(step: .named(action, name, failing))
  }

  /// Several effects, begun in this order; immediate ones are folded in this order.
  public static func several(_ effects: [Effect]) -> Effect { Effect(step: .several(effects)) }

  /// Several effects, begun in this order; immediate ones are folded in this order.
  public static func several(_ effects: Effect...) -> Effect { several(effects) }

  /// Work off the event loop that sends actions while it goes on.
  ///
  /// - Parameters:
  ///   - name: What hooks, traces and injected faults call this operation.
  ///   - id: What `.cancel(id)` ends it by, as `cancellable(_:)` would say.
  ///   - cancelled: What is folded if it is cancelled, as `onCancel(_:)` would say.
  ///   - failing: How it fails, as `operation(_:_:)` would say; nil if it cannot.
  ///   - work: Ends by returning. Once its task is cancelled, what it still sends is dropped.
  public static func run(
    _ name: String, id: EffectID? = nil, onCancel cancelled: Action? = nil,
    failing: Failing<Action>? = nil,
    _ work: @escaping @Sendable (EffectContext<Action>) async -> Void
  ) -> Effect {
    Effect(
      step: .work(Work(name: name, id: id, cancelled: cancelled, failing: failing, body: work)))
  }

  /// Work that lasts as long as the store and whose end nobody waits for.
  ///
  /// A feed that runs already under this id goes on, and the new one is not begun; `latest` turns
  /// that round.
  public static func feed(
    _ id: EffectID, _ work: @escaping @Sendable (EffectContext<Action>) async -> Void
  ) -> Effect {
    Effect(step: .work(Work(name: id.description, id: id, isFeed: true, body: work)))
  }

  /// An effect that is made when it is performed, by the time of then.
  public static func deferred(
    _ make: @escaping @Sendable (any StoreClock) -> Effect
  ) -> Effect {
    Effect(step: .deferred { make($0.clock) })
  }

  /// An effect that is made when it is performed, knowing the operation that it is part of.
  ///
  /// For writes to what outlives the process: a write that carries the id and is not done twice under
  /// one can be run again after a restart, whether or not it was done before.
  ///
  /// - Parameter make: Gets nil where the store is not written down, so that nothing is ever run
  ///   again. All effects of one input get the same id.
  public static func identified(
    _ make: @escaping @Sendable (OperationID?) -> Effect
  ) -> Effect {
    Effect(step: .deferred { make($0.operation) })
  }

  /// Cancels the running effects with an id; none is no error.
  public static func cancel(_ id: EffectID) -> Effect {
    Effect(step: .cancel(id, feeds: true))
  }
}

// MARK: - Names

extension Effect {
  /// The same effect, which `.cancel(id)` ends.
  public func cancellable(_ id: EffectID) -> Effect { mapWork { $0.changing(id: id) } }

  /// The same effect, which first cancels earlier ones with its id: only the newest is heard.
  ///
  /// That holds for immediate effects too: an answer that is there at once silences a slower one.
  public func latest(_ id: EffectID) -> Effect { .several(.cancel(id), cancellable(id)) }

  /// The same effect, which first cancels earlier ones with its id that are no feeds.
  ///
  /// For work that ends with `becomeFeed`: the feed that runs goes on until this one takes over, so
  /// that nothing is missed if this one is cancelled before that.
  public func refreshing(_ id: EffectID) -> Effect {
    .several(Effect(step: .cancel(id, feeds: false)), cancellable(id))
  }

  /// The same effect; if it is cancelled, by its id or with its input, `action` is folded.
  ///
  /// Not when the store closes. For states that say that something is going on.
  public func onCancel(_ action: Action) -> Effect { mapWork { $0.changing(cancelled: action) } }

  /// The same effect; if it is cancelled with its input, the running effects with an id are cancelled
  /// after it.
  ///
  /// Cancelling it by its own id leaves them alone: a newer effect may be about to replace it.
  public func cancellingWithInput(_ id: EffectID) -> Effect {
    mapWork { $0.changing(dependents: id) }
  }

  /// The same effect, which calls `body` when its work begins: before any later work of the store
  /// begins, and not at all where the work is cancelled before.
  ///
  /// It begins at once, or when whoever hosts the store lets it (`AnyStore.holdWork`). A server does at
  /// the end of the turn, or before bytes of it go out; where the store is written down, once its input
  /// is. From then on the work starts whenever there is a thread for it, and so it does if it is cancelled
  /// meanwhile.
  public func onBegin(_ body: @escaping @Sendable () -> Void) -> Effect {
    mapWork { $0.changing(began: body) }
  }

  /// The same effect as one operation with a name, which hooks and traces show from its beginning
  /// to its end, and which can fail.
  ///
  /// - Parameters:
  ///   - name: What hooks, traces and injected faults call it.
  ///   - failure: The action that it gives when a fault is injected.
  ///   - isFailure: Whether an action of its says that it has failed.
  public func operation(
    _ name: String, failing failure: Action,
    when isFailure: @escaping @Sendable (Action) -> Bool
  ) -> Effect {
    operation(name, Failing(failure: failure, isFailure: isFailure))
  }

  /// The same effect as one operation with a name; see `operation(_:failing:when:)`.
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

  /// Names what is to be named of several effects that are not all immediate.
  private static func naming(
    _ effects: [Effect], by name: (Effect) -> Effect
  ) -> [Effect] {
    let cancels = effects.prefix(while: \.isCancel)
    let rest = effects.dropFirst(cancels.count)
    // An immediate effect that is the latest: what it cancels is no part of the operation.
    if !rest.isEmpty, rest.allSatisfy(\.isImmediate) {
      return Array(cancels) + [name(.several(Array(rest)))]
    }
    // What is immediate beside work prepares it.
    return effects.map { $0.isImmediate ? $0 : name($0) }
  }

  /// Whether it is at most one action, and that one immediate, unless a fault delays it.
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

  /// The same effect with all its work changed, waits included.
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
  /// The same effect as one operation with a name; see `operation(_:failing:when:)`.
  public func operation(_ name: String, failing failure: Action) -> Effect {
    operation(name, failing: failure) { $0 == failure }
  }
}
