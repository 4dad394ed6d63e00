// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

/// How a load ended.
public enum LoadOutcome: Hashable, Sendable {
  case loaded(LoadedValue)
  case failure(LoadingFailure)

  var isFailure: Bool { if case .failure = self { true } else { false } }
}

/// What one load may use: the clock, a way to tell its progress, and names for what it does.
public struct LoadContext: Sendable {
  /// The store's clock; no loader sleeps on another one.
  public let clock: any StoreClock
  /// Takes care of sources that do not hear that they were cancelled.
  let strays: AbandonedTasks
  private let line: LoadLine
  /// What becomes of progress on its way out; nil drops it.
  private let filter: @Sendable (LoadingProgress) -> LoadingProgress?
  /// Whether the loader is the whole tree, so that its states are the store's.
  let isRoot: Bool

  init(clock: any StoreClock, strays: AbandonedTasks, line: LoadLine) {
    self.clock = clock
    self.strays = strays
    self.line = line
    filter = { $0 }
    isRoot = true
  }

  private init(
    _ outer: LoadContext, filter: @escaping @Sendable (LoadingProgress) -> LoadingProgress?
  ) {
    clock = outer.clock
    strays = outer.strays
    line = outer.line
    self.filter = filter
    isRoot = false
  }

  /// Tells how far the load has come and returns when that is folded.
  ///
  /// Dropped once the task is cancelled, or the call of the loader that reports is over.
  public func report(_ progress: LoadingProgress) async {
    guard !Task.isCancelled else { return }
    await line.show { filter(progress).map { .loading(progress: $0) } }
  }

  /// Shows a state as it is; for a loader that is the whole tree.
  func show(_ make: () -> LoadingViewState?) async {
    guard !Task.isCancelled else { return }
    await line.show(make)
  }

  /// Runs a named part of the load as an operation: hooks and traces show it, and faults can be
  /// injected into it.
  public func operation(
    _ name: String, _ body: () async -> LoadOutcome
  ) async -> LoadOutcome {
    await line.context.operation(
      name, failing: .failure(.faultInjected), when: \.isFailure, body)
  }

  /// A context for a part of the load, whose progress goes through `transform`.
  ///
  /// One transform runs at a time, in the order in which progress is shown.
  func part(
    _ transform: @escaping @Sendable (LoadingProgress) -> LoadingProgress? = { $0 }
  ) -> LoadContext {
    LoadContext(self) { [filter] in transform($0).flatMap(filter) }
  }
}

/// What connects one load with its store.
///
/// States are numbered in the order in which they are made: tasks that run side by side may hand
/// them over in another one.
final class LoadLine: Sendable {
  let context: EffectContext<LoadingStore.Action>
  private let generation: Int
  private let last = Lock(0)

  init(_ context: EffectContext<LoadingStore.Action>, generation: Int) {
    self.context = context
    self.generation = generation
  }

  /// Makes the next state and sends it; nil is none.
  func show(_ make: () -> LoadingViewState?) async {
    if let action = next(make) { await context.send(action) }
  }

  /// The action that ends the load.
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

/// The progress of one call of a loader: its percent never falls, and after its end there is none.
final class CallProgress: Sendable {
  private let state = Lock((highest: 0, isOver: false))

  /// The progress as it is shown; nil if it came too late.
  func filter(_ progress: LoadingProgress) -> LoadingProgress? {
    var progress = progress
    // Who cancels a load is the frontend, and the store says so.
    progress.isCancelled = false
    return rising(progress)
  }

  /// A state as it is shown; a percent starts from 0 again after a state other than `loading`.
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
