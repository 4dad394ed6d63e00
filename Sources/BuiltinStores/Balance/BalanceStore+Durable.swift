// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

// After a restart a refresh asks again, because asking changes nothing, and the text is of today.

extension BalanceStore: DurableMachine {
  public func restart(
    of input: BalanceInput, in state: State, after elapsed: Duration
  ) -> Effect<Action> {
    switch input {
    case .viewDidAppear, .refreshButtonWasTapped: effect(of: input, in: state)
    case .willResignActive, .didBecomeActive, .frontendsBecameInactive, .frontendsBecameActive:
      .none
    }
  }

  public func interruption(in state: State) -> Action? {
    state.isRefreshing ? .refreshCancelled(state.generation) : nil
  }

  public func resumption(in state: State) -> Effect<Action> {
    guard state.showsDates else { return .none }
    return .deferred { [self] clock in
      let now = Timestamp(sinceEpoch: clock.sinceEpoch)
      return .several(.action(.dayBegan(at: now)), days(from: now))
    }
  }
}
