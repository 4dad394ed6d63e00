// SPDX-License-Identifier: Apache-2.0

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
