// SPDX-License-Identifier: Apache-2.0

/// What an input sets off, as a value: the store performs it, and it cannot fail.
///
/// - `none`, `action` and `several` of those are *immediate*: they are folded before the answer to
///   their input.
/// - `run` is work that may wait; its actions are folded as they arrive, in completion order.
/// - `feed` is work that lasts as long as the store, a change stream say; nobody waits for its end.
///
/// Work that fails says so with an action.
public struct Effect<Action: Sendable>: Sendable {
  /// The cases, for the store that performs them.
  enum Step: Sendable {
    case none
    case action(Action)
    case several([Effect])
    case work(Work<Action>)
    case cancel(EffectID, feeds: Bool)
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
    description.withBytes { hasher.combine(bytes: $0) }
  }
}

/// Work that may wait, and how it gets on with other work of the same name.
struct Work<Action: Sendable>: Sendable {
  var name: String
  var id: EffectID?
  var isFeed = false
  var began: (@Sendable () -> Void)?
  var cancelled: Action?
  var body: @Sendable (EffectContext<Action>) async -> Void
}

extension Effect {
  /// Nothing.
  public static var none: Effect { Effect(step: .none) }

  /// One action, folded at once.
  public static func action(_ action: Action) -> Effect { Effect(step: .action(action)) }

  /// Several effects, begun in this order; immediate ones are folded in this order.
  public static func several(_ effects: [Effect]) -> Effect { Effect(step: .several(effects)) }

  /// Several effects, begun in this order; immediate ones are folded in this order.
  public static func several(_ effects: Effect...) -> Effect { several(effects) }

  /// Work off the event loop that sends actions while it goes on.
  ///
  /// - Parameters:
  ///   - name: What hooks, traces and injected faults call this operation.
  ///   - work: Ends by returning. Once its task is cancelled, what it still sends is dropped.
  public static func run(
    _ name: String, _ work: @escaping @Sendable (EffectContext<Action>) async -> Void
  ) -> Effect {
    Effect(step: .work(Work(name: name, body: work)))
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

  /// Cancels the running effects with an id; none is no error.
  public static func cancel(_ id: EffectID) -> Effect {
    Effect(step: .cancel(id, feeds: true))
  }

  /// The same effect, which `.cancel(id)` ends.
  public func cancellable(_ id: EffectID) -> Effect { mapWork { $0.id = id } }

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
  public func onCancel(_ action: Action) -> Effect { mapWork { $0.cancelled = action } }

  /// The same effect, which calls `body` when its work begins: at once, before any later effect of
  /// the store begins. The work itself starts whenever there is a thread for it.
  public func onBegin(_ body: @escaping @Sendable () -> Void) -> Effect {
    mapWork { $0.began = body }
  }

  private func mapWork(_ change: (inout Work<Action>) -> Void) -> Effect {
    switch step {
    case .none, .action, .cancel:
      return self
    case .several(let effects):
      return .several(effects.map { $0.mapWork(change) })
    case .work(var work):
      change(&work)
      return Effect(step: .work(work))
    }
  }
}

extension Effect {
  /// The same effect with its actions turned into others; nil drops one.
  public func compactMap<Other: Sendable>(
    _ transform: @escaping @Sendable (Action) -> Other?
  ) -> Effect<Other> {
    switch step {
    case .none:
      return .none
    case .action(let action):
      return transform(action).map { .action($0) } ?? .none
    case .several(let effects):
      return .several(effects.map { $0.compactMap(transform) })
    case .cancel(let id, let feeds):
      return Effect<Other>(step: .cancel(id, feeds: feeds))
    case .work(let work):
      let body = work.body
      return Effect<Other>(
        step: .work(
          Work<Other>(
            name: work.name, id: work.id, isFeed: work.isFeed, began: work.began,
            cancelled: work.cancelled.flatMap(transform)
          ) { await body($0.pullback(transform)) }))
    }
  }
}
