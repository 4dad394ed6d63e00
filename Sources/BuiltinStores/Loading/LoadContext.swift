// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

/// The end of a load that was not cancelled: a value or a failure.
public enum LoadOutcome: Hashable, Sendable {
  /// The value was loaded.
  case loaded(LoadedValue)
  /// The load has failed.
  case failure(LoadingFailure)

  var isFailure: Bool { if case .failure = self { true } else { false } }
}

/// The context of one load: the clock, a function to report progress, and named operations.
public struct LoadContext: Sendable {
  /// The store's clock. A loader must not sleep on another clock.
  public let clock: any StoreClock
  /// The tasks of sources that ignore their cancellation.
  let abandonedTasks: AbandonedTasks
  private let line: LoadLine
  /// Transforms progress before it is shown; nil drops it.
  private let filter: @Sendable (LoadingProgress) -> LoadingProgress?
  /// True if the loader is the root of the tree, so that its states are the states of the store.
  let isRoot: Bool

  init(clock: any StoreClock, abandonedTasks: AbandonedTasks, line: LoadLine) {
    self.clock = clock
    self.abandonedTasks = abandonedTasks
    self.line = line
    filter = { $0 }
    isRoot = true
  }

  private init(
    _ outer: LoadContext, filter: @escaping @Sendable (LoadingProgress) -> LoadingProgress?
  ) {
    clock = outer.clock
    abandonedTasks = outer.abandonedTasks
    line = outer.line
    self.filter = filter
    isRoot = false
  }

  /// Reports progress and returns when it is folded.
  ///
  /// The progress is dropped if the task is cancelled, or if the call of the loader that reports
  /// has ended.
  public func report(_ progress: LoadingProgress) async {
    guard !Task.isCancelled else { return }
    await line.show { filter(progress).map { .loading(progress: $0) } }
  }

  /// Shows a state unchanged; for a loader that is the root of the tree.
  func show(_ make: () -> LoadingViewState?) async {
    guard !Task.isCancelled else { return }
    await line.show(make)
  }

  /// Runs a named part of the load as an operation: hooks and traces show it, and faults can be
  /// injected into it.
  ///
  /// - Returns: The outcome of `body`, or a failure with the code `fault.injected`.
  public func operation(
    _ name: String, _ body: () async -> LoadOutcome
  ) async -> LoadOutcome {
    await line.context.operation(
      name, failing: .failure(.faultInjected), when: \.isFailure, body)
  }

  /// Returns a context for a part of the load whose progress is transformed.
  ///
  /// The transforms are called one at a time, in the order in which progress is shown.
  func part(
    _ transform: @escaping @Sendable (LoadingProgress) -> LoadingProgress? = { $0 }
  ) -> LoadContext {
    LoadContext(self) { [filter] in transform($0).flatMap(filter) }
  }
}

/// The connection between one load and its store.
///
/// States are numbered in the order in which they are made, because concurrent tasks may send them
/// in another order.
final class LoadLine: Sendable {
  let context: EffectContext<LoadingStore.Action>
  private let generation: Int
  private let last = Lock(0)

  init(_ context: EffectContext<LoadingStore.Action>, generation: Int) {
    self.context = context
    self.generation = generation
  }

  /// Makes the next state and sends it; nothing is sent if `make` returns nil.
  func show(_ make: () -> LoadingViewState?) async {
    if let action = next(make) { await context.send(action) }
  }

  /// Returns the action that ends the load.
  func end(_ outcome: LoadOutcome) -> LoadingStore.Action? {
    next {
      switch outcome {
      case .loaded(let value): .loaded(value: value)
      case .failure(let failure): .failure(error: failure)
      }
    }
  }

  private func next(_ make: () -> LoadingViewState?) -> LoadingStore.Action? {
    last.withLock { last in
      guard let state = make() else { return nil }
      last += 1
      return .show(state, generation: generation, number: last)
    }
  }
}

/// The progress of one call of a loader: its percent never decreases, and no progress follows its
/// end.
final class CallProgress: Sendable {
  private let state = Lock((highest: 0, isOver: false))

  /// Returns the progress to show; nil if the call has ended.
  func filter(_ progress: LoadingProgress) -> LoadingProgress? {
    var progress = progress
    // Only a frontend cancels a load, and the store itself shows that.
    progress.isCancelled = false
    return rising(progress)
  }

  /// Returns the state to show; after a state other than `loading` the percent starts at 0 again.
  func filter(_ shown: LoadingViewState) -> LoadingViewState? {
    switch shown {
    case .loading(let progress?): return rising(progress).map { .loading(progress: $0) }
    case .loading(nil): break
    case .idle, .loaded, .failure: state.withLock { $0.highest = 0 }
    }
    return shown
  }

  func end() { state.withLock { $0.isOver = true } }

  private func rising(_ progress: LoadingProgress) -> LoadingProgress? {
    state.withLock { state in
      guard !state.isOver else { return nil }
      guard let percent = progress.percent else { return progress }
      state.highest = max(percent, state.highest)
      var progress = progress
      progress.percent = state.highest
      return progress
    }
  }
}
