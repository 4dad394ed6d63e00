// SPDX-License-Identifier: Apache-2.0

extension EffectRunner {
  /// One running effect.
  final class Run {
    let number: RunNumber
    let operation: Operation
    /// The work. `isFeed` below may differ from that of the work later.
    let work: Work<Action>
    /// The window that is open while this wait lasts.
    let window: EffectID?
    var isFeed: Bool
    /// True after an action that stands for a failure of the operation.
    var hasFailed = false
    /// The input that started the run.
    let inputID: InputID
    /// The named parts that have not ended, as observers know them.
    var parts: [Operation] = []
    /// The effect to perform at the end of the run, with its input.
    var next: Next?
    /// True while the work must not begin yet.
    var isHeld = false
    /// Called at the end of an exchange; nil if the host does not wait for it.
    var exchangeEnded: (@Sendable () -> Void)?
    /// The task of the work; nil while the work is held.
    var task: Task<Void, Never>?
    /// The span of the work that has caused this one, until this one begins; nil if it is not traced.
    private var cause: (any TraceSpan)?
    /// The span of the work while it runs; nil if it is not traced.
    private(set) var span: (any TraceSpan)?

    init(
      _ work: Work<Action>, _ operation: Operation, window: EffectID?, _ inputID: InputID,
      next: Next?, cause: (any TraceSpan)?
    ) {
      self.cause = cause
      number = RunNumber(rawValue: operation.number)
      self.operation = operation
      self.work = work
      self.window = window
      isFeed = work.isFeed
      self.inputID = inputID
      self.next = next
    }

    /// Begins the span of the work, if it is traced, and calls `body` within it.
    func trace(_ body: () -> Void) {
      if !isFeed { span = cause?.child(.effect, CurrentSpan.name(of: work.name)) }
      cause = nil
      // The work may be begun by a task of other work, which has a span.
      guard let current = span ?? CurrentSpan.value else { return body() }
      if span != nil { current.enclose(body) } else { current.leave(body) }
    }

    /// Ends the span, if there is one.
    func endSpan(_ end: OperationEnd) {
      span?.end(end)
      span = nil
    }
  }

  /// An effect that waits for the end of a run.
  final class Next {
    let effect: Effect<Action>
    let inputID: InputID
    /// The span of the work that has caused the effect; nil if it is not traced.
    let cause: (any TraceSpan)?

    init(effect: Effect<Action>, inputID: InputID, cause: (any TraceSpan)?) {
      self.cause = cause
      self.effect = effect
      self.inputID = inputID
    }

    /// The wait of a throttled effect; nil for other effects.
    var wait: Work<Action>? {
      if case .put(.throttled, let work, _) = effect.step { work } else { nil }
    }
  }
}
