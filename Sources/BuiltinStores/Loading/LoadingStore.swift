// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

/// A value that is loaded, with the progress of the load.
///
/// Each load has a generation: only the newest one is folded, and older ones are cancelled. A load
/// that the frontend cancels stays visible as cancelled, and nothing is loaded until a reset.
public struct LoadingStore: StateMachine {
  /// The inputs of kind `loading`.
  public typealias Input = LoadingInput
  /// The view state of kind `loading`.
  public typealias ViewState = LoadingViewState

  /// An action of the loader.
  public enum Action: Equatable, Sendable {
    /// A load begins.
    case began(generation: Int)
    /// A cached value was found, so nothing is loaded.
    case found(LoadedValue, generation: Int)
    /// A load shows a state. The states of a load are numbered in the order in which they were
    /// made.
    case show(LoadingViewState, generation: Int, number: Int)
    /// A load was cancelled by its effect id.
    case stopped(generation: Int)
    /// The frontend cancels the load.
    case cancel
    /// The frontend resets the loader.
    case reset
  }

  /// The folded state of the loader.
  public struct State: Codable, Sendable {
    /// The view state.
    public var shown = LoadingViewState.idle
    /// A counter that increases with each load and with each input that makes older loads invalid.
    var generation = 0
    /// The number of the newest state of the generation.
    var number = 0
  }

  /// The state before the first load: idle.
  public let initialState = State()
  let loader: Loader

  /// Creates the machine.
  ///
  /// - Parameter loader: The loader of the value.
  public init(_ loader: Loader) { self.loader = loader }

  /// Creates the machine from a configuration.
  ///
  /// - Parameters:
  ///   - configuration: The loader as data.
  ///   - sources: The sources that the configuration may name.
  ///   - cache: The cache and the semaphores that the loaders of the session share.
  /// - Throws: `ConfigurationError` if the configuration names an unknown source.
  public init(
    configuration: LoaderConfiguration, sources: LoadingSources, cache: LoaderCache
  ) throws(ConfigurationError) {
    self.init(try Loader(configuration, sources: sources, cache: cache))
  }

  /// Returns the effect of an input in the current state.
  public func effect(of input: LoadingInput, in state: State) -> Effect<Action> {
    switch (state.phase, input) {
    case (.cancelled, .load), (.cancelled, .loadIfNotLoading), (.cancelled, .appear):
      .none
    case (.idle, .load), (.loading, .load), (.ended, .load),
      (.idle, .loadIfNotLoading), (.ended, .loadIfNotLoading), (.idle, .appear):
      call(generation: state.generation + 1)
    case (.loading, .loadIfNotLoading), (.loading, .appear), (.ended, .appear):
      .none
    case (.loading, .cancel):
      .several(.action(.cancel), .cancel(Self.work), cancelWindow)
    case (.idle, .cancel), (.ended, .cancel), (.cancelled, .cancel):
      // The shown state stays the same; a call that waits is dropped.
      cancelWindow
    case (_, .reset):
      reset
    }
  }

  /// Folds one action into the state.
  public func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .began(let generation):
      state.begin(generation, showing: .loading(progress: nil))
    case .found(let value, let generation):
      state.begin(generation, showing: .loaded(value: value))
    case .show(let shown, let generation, let number):
      guard generation == state.generation, number > state.number else { return }
      state.number = number
      state.shown = shown
    case .stopped(let generation):
      if generation == state.generation, state.phase == .loading { state.cancel() }
    case .cancel:
      state.cancel()
    case .reset:
      state.begin(state.generation + 1, showing: .idle)
    }
  }

  /// Returns the view state of a state.
  public func view(of state: State) -> LoadingViewState { state.shown }
}

// MARK: - Loading

extension LoadingStore {
  private static let work: EffectID = "load"
  static let window: EffectID = "load.window"

  private var cancelWindow: Effect<Action> { loader.window == nil ? .none : .cancel(Self.window) }

  /// Returns a call of the loader: immediately, or at the end of its window.
  private func call(generation: Int) -> Effect<Action> {
    let call = callImmediately(generation: generation)
    guard let window = loader.window else { return call }
    return call.debounced(
      Self.window, for: window.interval, firstImmediately: window.executeFirstImmediately)
  }

  // In both cases the generation changes first, so that later states of an older load are ignored.
  func callImmediately(generation: Int) -> Effect<Action> {
    guard loader.cached != nil else { return begin(generation: generation) }
    return .deferred { clock in
      guard let value = loader.freshValue(clock) else { return begin(generation: generation) }
      return .several(.action(.found(value, generation: generation)), .cancel(Self.work))
    }
  }

  private func begin(generation: Int) -> Effect<Action> {
    .several(
      .action(.began(generation: generation)), .cancel(Self.work), load(generation: generation))
  }

  private var reset: Effect<Action> {
    guard let cached = loader.cached else {
      return .several(.action(.reset), .cancel(Self.work), cancelWindow)
    }
    return .several(
      .action(.reset), .cancel(Self.work), cancelWindow,
      // After the work was cancelled, so that it cannot cache the value again.
      .deferred { _ in
        cached.forget()
        return .none
      })
  }

  private func load(generation: Int) -> Effect<Action> {
    let failing = Failing<Action>(
      failure: .show(.failure(error: .faultInjected), generation: generation, number: .max)
    ) { action in
      if case .show(.failure, _, _) = action { true } else { false }
    }
    let load = Effect.run(
      "load", id: Self.work, onCancel: .stopped(generation: generation), failing: failing
    ) { [loader] context in
      let line = LoadLine(context, generation: generation)
      await AbandonedTasks.collect { abandonedTasks in
        let outcome = await loader.load(
          LoadContext(clock: context.clock, abandonedTasks: abandonedTasks, line: line))
        guard !Task.isCancelled, let end = line.end(outcome) else { return }
        // The input does not wait for a source that ignores its cancellation.
        if abandonedTasks.remaining > 0 {
          await context.becomeFeed(sending: end)
        } else {
          await context.send(end)
        }
      }
    }
    // After a cancelled load nothing is loaded until a reset, so a call that waits is dropped too.
    return loader.window == nil ? load : load.cancellingWithInput(Self.window)
  }
}

extension LoadingStore.State {
  /// The phase of the store, which decides the effect of an input.
  enum Phase {
    case idle
    case loading
    /// Loading, and cancelled by the frontend.
    case cancelled
    /// Loaded or failed.
    case ended
  }

  var phase: Phase {
    switch shown {
    case .idle: .idle
    case .loading(let progress): progress?.isCancelled == true ? .cancelled : .loading
    case .loaded, .failure: .ended
    }
  }

  fileprivate mutating func begin(_ generation: Int, showing state: LoadingViewState) {
    self.generation = generation
    number = 0
    shown = state
  }

  /// Shows the load as cancelled; the percent stays the same.
  fileprivate mutating func cancel() {
    var percent: Int?
    if case .loading(let progress?) = shown { percent = progress.percent }
    let progress = LoadingProgress(
      percent: percent, message: Text.loadingCancelled.message, isCancelled: true)
    begin(generation + 1, showing: .loading(progress: progress))
  }
}
