// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireProtocol

// After a restart a refresh asks again, since asking changes nothing, and days go on beginning.

extension BalanceStore: DurableMachine {
  public func restart(
    of input: BalanceInput, in state: State, after elapsed: Duration
  ) -> Effect<Action> {
    switch input {
    case .viewDidAppear, .refreshButtonWasTapped: effect(of: input, in: state)
    case .willResignActive, .didBecomeActive: .none
    }
  }

  public func interruption(in state: State) -> Action? {
    state.isRefreshing ? .refreshCancelled(state.generation) : nil
  }

  public func resumption(in state: State) -> Effect<Action> {
    // Before the first refresh no text depends on the day.
    guard state.generation > 0 else { return .none }
    return .deferred { [zone] clock in
      let now = Timestamp(sinceEpoch: clock.sinceEpoch)
      return .several(
        .action(.dayBegan(at: now)), DayFeed(zone: zone).effect(from: now) { .dayBegan(at: $0) })
    }
  }
}
