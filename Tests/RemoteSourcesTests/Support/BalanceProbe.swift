// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import RemoteSources
import StateMachines
import TestSupport

/// A store that calls a balance service and records its results.
struct BalanceProbe: StateMachine {
  enum Input: String, Decodable, Sendable { case ask, cancel }

  let initialState = 0
  let service: HTTPBalanceService
  let results: Record<BalanceResult>

  func effect(of input: Input, in state: Int) -> Effect<BalanceResult> {
    switch input {
    case .ask: service.balance().cancellable("balance")
    case .cancel: .cancel("balance")
    }
  }

  func reduce(_ state: inout Int, _ action: BalanceResult) {
    results.add(action)
    state += 1
  }

  /// An actor with one such store.
  actor Host: StoreHost {
    let results = Record<BalanceResult>()
    private var store: Store<BalanceProbe>?
    private var last: InputID?

    init(_ service: HTTPBalanceService) async throws {
      store = try Store(
        BalanceProbe(service: service, results: results), number: StoreNumber(1), host: self)
    }

    func deliver(_ message: EffectMessage) { store?.receive(message) }

    func ask() throws { last = try store?.send(.ask)?.inputID }

    func cancel() throws { _ = try store?.send(.cancel) }

    /// Returns when the effects of the last `ask` have ended.
    func settled() async {
      guard let store, let last else { return }
      await withCheckedContinuation { continuation in
        store.whenSettled(last) { _ in continuation.resume() }
      }
    }
  }
}
