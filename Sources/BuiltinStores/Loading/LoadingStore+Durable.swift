// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

// After a restart a load begins again, with all its attempts. A debounced call waits for the rest
// of its window. Cached values are not persisted.

extension LoadingStore: DurableMachine {
  /// Begins the load of an input again; a debounced call waits for the rest of its window.
  public func restart(
    of input: LoadingInput, in state: State, after elapsed: Duration
  ) -> Effect<Action> {
    switch (state.phase, input) {
    case (.idle, .load), (.idle, .loadIfNotLoading), (.idle, .appear),
      (.loading, .load), (.loading, .loadIfNotLoading), (.loading, .appear),
      (.ended, .load), (.ended, .loadIfNotLoading), (.ended, .appear):
      callAgain(generation: state.generation + 1, after: elapsed)
    case (.cancelled, _), (_, .cancel), (_, .reset):
      .none
    }
  }

  /// Returns a reset for a state that is loading; else nil.
  public func interruption(in state: State) -> Action? {
    state.phase == .loading ? .reset : nil
  }

  private func callAgain(generation: Int, after elapsed: Duration) -> Effect<Action> {
    let call = callImmediately(generation: generation)
    guard let window = loader.window, elapsed < window.interval else { return call }
    return call.debounced(Self.window, for: window.interval - elapsed)
  }
}
