// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

// After a restart a load begins anew, with all its attempts; a call that waited for its turn waits
// for the rest of the time. What was cached is not.

extension LoadingStore: DurableMachine {
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

  public func interruption(in state: State) -> Action? {
    state.phase == .loading ? .reset : nil
  }

  private func callAgain(generation: Int, after elapsed: Duration) -> Effect<Action> {
    let call = callAtOnce(generation: generation)
    guard let window = loader.window, elapsed < window.interval else { return call }
    return call.debounced(Self.window, for: window.interval - elapsed)
  }
}
