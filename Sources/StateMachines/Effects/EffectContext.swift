// SPDX-License-Identifier: Apache-2.0

/// What running work may use: a way to send actions, and the clock.
public struct EffectContext<Action: Sendable>: Sendable {
  /// The store's clock; work never sleeps on another one.
  public var clock: any StoreClock { line.clock }

  private let line: EffectLine
  /// The action as the store's own type; nil if it is dropped on the way.
  private let wrap: @Sendable (Action) -> (any Sendable)?

  init(_ line: EffectLine) { self.init(line) { $0 } }

  private init(_ line: EffectLine, wrap: @escaping @Sendable (Action) -> (any Sendable)?) {
    self.line = line
    self.wrap = wrap
  }

  /// Sends an action and returns when it has been folded.
  ///
  /// Dropped if the work was cancelled or the store closed meanwhile.
  public func send(_ action: Action) async {
    if let action = wrap(action) { await line.deliver(.action(action)) }
  }

  /// Sends an action and goes on as a feed: the work counts as ended for whoever waits for its
  /// input, and feeds of the same id that ran until now are cancelled.
  ///
  /// For work that first gives an answer and then what follows, such as a list and its changes. All
  /// of it happens at once: until then an older feed goes on, from then on this one.
  public func becomeFeed(sending action: Action) async {
    if let action = wrap(action) { await line.deliver(.becameFeed(action)) }
  }

  /// Refuses the input that the work is for, after it has been accepted: a request that waits for its effects gets the
  /// refusal as its response.
  ///
  /// - Parameters:
  ///   - refusal: The reason.
  ///   - action: Folded where no request waits, so that the state tells.
  public func refuse(_ refusal: InputRefusal, otherwise action: Action) async {
    await line.deliver(.refused(refusal, otherwise: wrap(action)))
  }

  /// Waits on the store's clock.
  /// - Throws: `CancellationError` when the work is cancelled meanwhile.
  public func sleep(for duration: Duration) async throws {
    try await clock.sleep(for: duration)
  }

  /// Runs a named part of the work as an operation of its own: hooks and traces show it, and faults
  /// can be injected into it.
  ///
  /// - Parameters:
  ///   - name: What hooks, traces and injected faults call it.
  ///   - failure: What it gives when a fault is injected.
  ///   - isFailure: Whether an outcome says that it has failed.
  ///   - body: The part.
  public func operation<Outcome: Sendable>(
    _ name: String, failing failure: Outcome,
    when isFailure: (Outcome) -> Bool, _ body: () async -> Outcome
  ) async -> Outcome {
    let part = line.isObserved ? line.parts?.next(name) : nil
    if let part { await line.deliver(.partBegan(part)) }
    let outcome: Outcome =
      switch line.faults?.take(name) {
      case nil, .dropConnection: await body()
      case .fail: failure
      case .delay(let time):
        if (try? await sleep(for: time)) != nil { await body() } else { failure }
      case .hang:
        await Fault.hang(giving: failure)
      }
    if let part {
      await line.deliver(
        .partEnded(part, Task.isCancelled ? .cancelled : isFailure(outcome) ? .failed : .finished))
    }
    return outcome
  }
}

extension EffectContext {
  /// A context for work whose actions are turned into this one's; nil drops one.
  func pullback<Other: Sendable>(
    _ transform: @escaping @Sendable (Other) -> Action?
  ) -> EffectContext<Other> {
    EffectContext<Other>(line) { [wrap] in transform($0).flatMap(wrap) }
  }
}

/// What connects running work with its store, whatever the type of its actions.
struct EffectLine: Sendable {
  let clock: any StoreClock
  let faults: Faults?
  /// Numbers the named parts of work; nil where nobody observes.
  let parts: PartNumbers?
  let deliver: @Sendable (EffectMessage.News) async -> Void

  var isObserved: Bool { parts != nil }
}

/// Numbers named parts of running work, so that observers can tell them apart.
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
