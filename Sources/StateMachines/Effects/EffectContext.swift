// SPDX-License-Identifier: Apache-2.0

/// The context of running work: sends actions to the store and gives access to the clock.
public struct EffectContext<Action: Sendable>: Sendable {
  /// The store's clock. Work must not sleep on another clock.
  public var clock: any StoreClock { line.clock }

  private var line: EffectLine
  /// Converts an action to the store's own type; nil if the action is dropped on the way.
  private let wrap: Wrap

  /// The text before the names of parts.
  private let prefix: String
  /// The members that contain the input of the work, if it is that of a child machine; outermost
  /// first.
  private var labels: [KeptLabel] = []

  private typealias Wrap = @Sendable (Action, _ isFailure: Bool) -> (any Sendable)?

  init(_ line: EffectLine) { self.init(line, prefix: "") { action, _ in action } }

  private init(_ line: EffectLine, prefix: String, wrap: @escaping Wrap) {
    self.line = line
    self.prefix = prefix
    self.wrap = wrap
  }

  /// Sends an action and returns when it has been folded.
  ///
  /// The action is dropped if the work was cancelled or the store was closed meanwhile.
  public func send(_ action: Action) async {
    if let action = wrap(action, false) { await line.deliver(.action(action)) }
  }

  /// Sends an action that stands for a failure of the work.
  func fail(_ action: Action) async {
    if let action = wrap(action, true) { await line.deliver(.failed(action)) }
  }

  /// Sends an action and turns the work into a feed: the input no longer waits for it, and running
  /// feeds of the same id are cancelled.
  ///
  /// For work that first gives a result and then its changes, such as a list and its changes. The
  /// store does all of it in one step: until then an older feed runs, and from then on this one.
  public func becomeFeed(sending action: Action) async {
    if let action = wrap(action, false) { await line.deliver(.becameFeed(action)) }
  }

  /// Refuses the input of the work after it was accepted. A request that waits for the effects of
  /// the input gets the refusal as its response.
  ///
  /// - Parameters:
  ///   - refusal: The reason.
  ///   - action: The action to fold if no request waits, so that the state shows the refusal.
  public func refuse(_ refusal: InputRefusal, otherwise action: Action) async {
    let refusal = labels.reversed().reduce(refusal) { $0.inside($1.value) }
    await line.deliver(.refused(refusal, otherwise: wrap(action, false)))
  }

  /// Waits on the store's clock.
  ///
  /// - Throws: `CancellationError` when the work is cancelled meanwhile.
  public func sleep(for duration: Duration) async throws {
    try await clock.sleep(for: duration)
  }

  /// Runs a named part of the work as a separate operation: hooks and traces show it, and faults
  /// can be injected into it.
  ///
  /// - Parameters:
  ///   - name: The name of the part for hooks, traces and injected faults.
  ///   - failure: The outcome that the part gives when a fault is injected.
  ///   - isFailure: Returns true for an outcome that stands for a failure of the part.
  ///   - body: The part.
  /// - Returns: The outcome of `body`, or `failure`.
  public func operation<Outcome: Sendable>(
    _ name: String, failing failure: Outcome,
    when isFailure: (Outcome) -> Bool, _ body: () async -> Outcome
  ) async -> Outcome {
    let name = prefix + name
    let part = line.isObserved ? line.parts?.next(name) : nil
    if let part { await line.deliver(.partBegan(part)) }
    let span = CurrentSpan.value?.child(.operation, CurrentSpan.name(of: name))
    let outcome =
      if let span {
        await CurrentSpan.$value.withValue(span) {
          await meetingFault(name, failing: failure, body)
        }
      } else {
        await meetingFault(name, failing: failure, body)
      }
    guard span != nil || part != nil else { return outcome }
    let end: OperationEnd =
      Task.isCancelled ? .cancelled : isFailure(outcome) ? .failed : .finished
    span?.end(end)
    if let part { await line.deliver(.partEnded(part, end)) }
    return outcome
  }

  /// Performs a part of the work, changed by the fault that is injected for it.
  ///
  /// - Parameters:
  ///   - name: The name of the part.
  ///   - failure: The outcome that the part gives when a fault is injected.
  ///   - body: The part.
  /// - Returns: The outcome of `body`, or `failure`.
  private func meetingFault<Outcome: Sendable>(
    _ name: String, failing failure: Outcome, _ body: () async -> Outcome
  ) async -> Outcome {
    switch line.faults?.injected.take(name) {
    case nil, .dropConnection: await body()
    case .fail: failure
    case .delay(let time):
      if (try? await sleep(for: time)) != nil { await body() } else { failure }
    case .hang:
      await Fault.hang(giving: failure)
    }
  }
}

// MARK: - Faults

extension EffectContext {
  /// Returns the same context for work that meets faults.
  func meeting(_ faults: WorkFaults) -> EffectContext {
    var context = self
    context.line.faults = faults
    return context
  }

  /// Performs one attempt of the work, changed by the fault that is injected for it.
  func attempt(_ body: Work<Action>.Body) async {
    guard let faults = line.faults else { return await body(self) }
    switch faults.next() {
    case nil, .dropConnection: break
    case .fail:
      if let failure = faults.failure as? Action { await fail(failure) }
      return
    case .delay(let time):
      if (try? await sleep(for: time)) == nil { return }
    case .hang:
      return await Fault.hang(giving: ())
    }
    faults.began()
    await body(self)
  }

  /// Performs work whose attempts give actions of another type.
  ///
  /// - Parameter failure: The action of the other type that a failed attempt gives; nil if only the
  ///   work as a whole has one, so that the whole work is one attempt.
  func attempts(failingBy failure: (any Sendable)?, _ body: Work<Action>.Body) async {
    guard let faults = line.faults else { return await body(self) }
    if failure == nil, faults.failure != nil {
      await attempt { await body($0.meeting(faults.ofParts)) }
    } else {
      await body(meeting(faults.failing(by: failure)))
    }
  }
}

// MARK: - Actions of other types

extension EffectContext {
  /// Returns a context for work whose actions are transformed into actions of this context.
  func pullback<Other: Sendable>(
    by transform: EffectTransform<Other, Action>
  ) -> EffectContext<Other> {
    var context = EffectContext<Other>(line, prefix: prefix + transform.prefix) {
      [wrap, transform] action, isFailure in
      transform.action(action).flatMap { wrap($0, isFailure) }
    }
    context.labels = transform.label.map { labels + [$0] } ?? labels
    return context
  }

  /// Returns a context for work whose actions are sent only if `isSent` returns true. It also
  /// receives whether the action stands for a failure.
  func filter(_ isSent: @escaping @Sendable (Action, Bool) -> Bool) -> EffectContext {
    var context = EffectContext(line, prefix: prefix) { [wrap] action, isFailure in
      isSent(action, isFailure) ? wrap(action, isFailure) : nil
    }
    context.labels = labels
    return context
  }
}

/// The connection between running work and its store, independent of the type of the actions.
struct EffectLine: Sendable {
  let clock: any StoreClock
  /// The faults that the work meets; nil if none can be injected.
  var faults: WorkFaults?
  /// Numbers the named parts of work; nil if the store has no observers.
  let parts: PartNumbers?
  let deliver: @Sendable (EffectMessage.News) async -> Void

  var isObserved: Bool { parts != nil }
}

/// A counter that numbers the named parts of running work, so that observers can distinguish them.
final class PartNumbers: Sendable {
  private let last = Lock<UInt64>(0)

  func next(_ name: String) -> Operation {
    Operation(
      stage: .part, name: name,
      number: last.withLock {
        $0 += 1
        return $0
      })
  }
}
