// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

// After a restart a refresh runs again, because a request changes nothing in the service. The texts
// become relative to the current date.

extension BalanceStore: DurableMachine {
  /// Requests the balance again for a refresh; returns no effect for the other inputs.
  public func restart(
    of input: BalanceInput, in state: State, after elapsed: Duration
  ) -> Effect<Action> {
    switch input {
    case .viewDidAppear, .refreshButtonWasTapped: effect(of: input, in: state)
    case .willResignActive, .didBecomeActive, .frontendsBecameInactive, .frontendsBecameActive:
      .none
    }
  }

  /// Returns the end of a refresh for a state that is refreshing; else nil.
  public func interruption(in state: State) -> Action? {
    state.isRefreshing ? .refreshCancelled(state.generation) : nil
  }

  /// Returns the feed of date changes if a date is visible, after an action with the current time.
  public func resumption(in state: State) -> Effect<Action> {
    guard state.showsDates else { return .none }
    return .deferred { [self] clock in
      let now = Timestamp(sinceEpoch: clock.sinceEpoch)
      return .several(.action(.dayBegan(at: now)), days(from: now))
    }
  }
}
