// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

/// A value that is loaded, and how that is going.
///
/// Each load is a generation: only the newest one is heard, older ones are cancelled. A load that
/// is cancelled by the frontend stays on screen as such, and nothing is loaded until a reset.
public struct LoadingStore: StateMachine {
  public typealias Input = LoadingInput
  public typealias ViewState = LoadingViewState

  public enum Action: Equatable, Sendable {
    /// A load begins.
    case began(generation: Int)
    /// There was a value without loading.
    case found(LoadedValue, generation: Int)
    /// A load shows a state; its states are numbered in the order in which they were made.
    case show(LoadingViewState, generation: Int, number: Int)
    /// A load was stopped from outside.
    case stopped(generation: Int)
    case cancel
    case reset
  }

  public struct State: Codable, Sendable {
    public var shown = LoadingViewState.idle
    /// Counts loads and whatever else makes an older load's states worthless.
    var generation = 0
    /// The newest state of the generation.
    var number = 0
  }

  public let initialState = State()
  let loader: Loader

  /// - Parameter loader: How the value is loaded.
  public init(_ loader: Loader) { self.loader = loader }

  /// - Parameters:
  ///   - configuration: How the value is loaded, as data.
  ///   - sources: What the configuration may name.
  ///   - cache: What the loaders of the session share.
  /// - Throws: `ConfigurationError` for a source that nobody has registered.
  public init(
    configuration: LoaderConfiguration, sources: LoadingSources, cache: LoaderCache
  ) throws(ConfigurationError) {
    self.init(try Loader(configuration, sources: sources, cache: cache))
  }

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
      // What is shown stays; a call that waits is dropped all the same.
      cancelWindow
    case (_, .reset):
      reset
    }
  }

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

  public func view(of state: State) -> LoadingViewState { state.shown }
}

// MARK: - Loading

extension LoadingStore {
  private static let work: EffectID = "load"
  static let window: EffectID = "load.window"

  private var cancelWindow: Effect<Action> { loader.window == nil ? .none : .cancel(Self.window) }

  /// A call of the loader: at once, or when its turn has come.
  private func call(generation: Int) -> Effect<Action> {
    let call = callAtOnce(generation: generation)
    guard let window = loader.window else { return call }
    return call.debounced(
      Self.window, for: window.interval, firstAtOnce: window.executeFirstImmediately)
  }

  // In both the state moves on first, so that an older load has nothing more to say about it.
  func callAtOnce(generation: Int) -> Effect<Action> {
    guard let kept = loader.kept else { return begin(generation: generation) }
    return .deferred { clock in
      guard let value = kept.fresh(clock) else { return begin(generation: generation) }
      return .several(.action(.found(value, generation: generation)), .cancel(Self.work))
    }
  }

  private func begin(generation: Int) -> Effect<Action> {
    .several(
      .action(.began(generation: generation)), .cancel(Self.work), load(generation: generation))
  }

  private var reset: Effect<Action> {
    guard let kept = loader.kept else {
      return .several(.action(.reset), .cancel(Self.work), cancelWindow)
    }
    return .several(
      .action(.reset), .cancel(Self.work), cancelWindow,
      // After the work was cancelled, so that it cannot bring back what is dropped.
      .deferred { _ in
        kept.forget()
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
      await AbandonedTasks.collect { strays in
        let outcome = await loader.load(
          LoadContext(clock: context.clock, strays: strays, line: line))
        guard !Task.isCancelled, let end = line.end(outcome) else { return }
        // Nobody waits for a source that does not hear that it has been cancelled.
        if strays.remaining > 0 {
          await context.becomeFeed(sending: end)
        } else {
          await context.send(end)
        }
      }
    }
    // Nothing is loaded after a cancelled load until a reset, so a call that waits is dropped too.
    return loader.window == nil ? load : load.cancellingWithInput(Self.window)
  }
}

extension LoadingStore.State {
  /// What inputs find.
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

  /// The percent stays where it was.
  fileprivate mutating func cancel() {
    var percent: Int?
    if case .loading(let progress?) = shown { percent = progress.percent }
    let progress = LoadingProgress(
      percent: percent, message: Text.loadingCancelled.message, isCancelled: true)
    begin(generation + 1, showing: .loading(progress: progress))
  }
}
