// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import StatewireJSON

/// An actor with one balance store, whose clock starts at `BalanceResult.time`.
actor BalanceHost: StoreHost {
  private let machine: BalanceStore
  private let environment: StoreEnvironment
  private var store: Store<BalanceStore>?
  private var watchers:
    [(condition: (BalanceViewState) -> Bool, CheckedContinuation<Void, Never>)] =
      []
  /// The initial state, then a patch for each publication.
  private(set) var texts: [String] = []

  init(
    _ machine: BalanceStore, clock: any StoreClock = ManualClock(start: BalanceResult.time),
    faults: Faults? = nil
  ) {
    self.machine = machine
    environment = StoreEnvironment(clock: clock, faults: faults)
  }

  var count: Int { texts.count }
  var view: BalanceViewState? { store.map { machine.view(of: $0.state) } }

  @discardableResult
  func send(_ input: BalanceInput) throws -> InputID {
    guard let result = try open().send(input) else { throw StoreError.closed }
    return result.inputID
  }

  func take(_ phase: LifecyclePhase) { store?.take(phase) }

  func cancel(_ inputID: InputID) { store?.cancel(inputID) }

  /// True if no work runs, including feeds.
  var isIdle: Bool { store?.isIdle ?? true }

  func deliver(_ message: EffectMessage) { store?.receive(message) }

  /// Waits until the view state fulfils a condition.
  func until(_ condition: @escaping @Sendable (BalanceViewState) -> Bool) async {
    if let view, condition(view) { return }
    await withCheckedContinuation { watchers.append((condition, $0)) }
  }

  /// Closes the store and waits for the end of its work.
  func close() async {
    for task in store?.close() ?? [] { await task.value }
  }

  private func open() throws -> Store<BalanceStore> {
    if let store { return store }
    let store = try Store(
      machine, number: StoreNumber(1), host: self, environment: environment)
    self.store = store
    _ = store.listen { publication in self.published(publication) }
    return store
  }

  private func published(_ publication: borrowing Publication) {
    var text = JSONWriter()
    publication.writeState(to: &text)
    texts.append(publication.patch.map { String(decoding: $0, as: UTF8.self) } ?? text.string())
    guard let view else { return }
    let due = watchers.filter { $0.condition(view) }
    watchers.removeAll { $0.condition(view) }
    for (_, watcher) in due { watcher.resume() }
  }
}
