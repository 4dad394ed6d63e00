// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import StatewireJSON

@testable import StateMachinesTesting

/// A loading store that a script drives, with a record of its published states and their times.
///
/// Work runs only inside `play`, one piece at a time, so a script always gives the same record.
actor LoadingBench: StoreHost {
  nonisolated let clock: ManualClock
  nonisolated let faults = Faults()
  /// `"1.5 loading 40% Almost there"` for each published state except the first.
  private(set) var shown: [String] = []
  private let work = WorkQueue()
  private var store: Store<LoadingStore>?
  private var isSettled = true

  init(clock: ManualClock = ManualClock()) { self.clock = clock }

  /// Opens a store from a configuration in JSON.
  init(
    _ tree: String, sources: LoadingSources = [:], cache: LoaderCache = LoaderCache(),
    clock: ManualClock = ManualClock()
  ) async throws {
    self.init(clock: clock)
    let configuration = try JSON.decode(LoaderConfiguration.self, from: Array(tree.utf8))
    try open(LoadingStore(configuration: configuration, sources: sources, cache: cache))
  }

  /// Opens a store with a loader.
  init(_ loader: Loader, clock: ManualClock = ManualClock()) async throws {
    self.init(clock: clock)
    try open(LoadingStore(loader))
  }

  // Work that waits for the clock of a finished test would never end.
  isolated deinit {
    store?.close()
    while work.run() > 0 {}
  }

  private func open(_ machine: LoadingStore) throws {
    let store = try Store(
      machine, number: StoreNumber(1), host: self,
      environment: StoreEnvironment(clock: clock, executor: work, faults: faults))
    self.store = store
    _ = store.listen { [unowned self] publication in
      guard publication.base != nil else { return }
      var state = JSONWriter()
      publication.writeState(to: &state)
      let text = state.bytes()
      self.assumeIsolated { $0.note(text) }
    }
  }

  private func note(_ state: [UInt8]) {
    let text = (try? JSON.decode(LoadingViewState.self, from: state)).map(Self.text) ?? "?"
    shown.append("\(Seconds(clock.uptime)) \(text)")
  }

  func deliver(_ message: EffectMessage) { store?.receive(message) }

  /// Runs a script of inputs and numbers of seconds to wait.
  ///
  /// - Returns: The states that were published meanwhile.
  @discardableResult
  func play(_ script: String) async throws -> [String] {
    let before = shown.count
    for word in script.split(separator: " ") {
      if let input = LoadingInput(rawValue: String(word)) {
        try send(input)
      } else {
        let time = try JSON.decode(Seconds.self, from: Array(word.utf8))
        await advance(by: time.duration)
      }
    }
    await rest()
    return Array(shown[before...])
  }

  /// Sends an input; its immediate effects are complete on return.
  func send(_ input: LoadingInput) throws {
    guard let result = try store?.send(input) else { return }
    isSettled = result.isSettled
    lastTicket = result.inputID
  }

  private(set) var lastTicket: InputID?

  /// Cancels the effects of the newest input, as a cancelled request does.
  func cancelLastInput() async {
    if let lastTicket { await cancel(lastTicket) }
  }

  /// Cancels the effects of an input, as a cancelled request does.
  func cancel(_ inputID: InputID) async {
    store?.cancel(inputID)
    await rest()
  }

  /// The loaded value.
  var value: LoadedValue? {
    if case .loaded(let value) = store?.state.shown { value } else { nil }
  }

  /// Returns true if the newest input is settled.
  func hasSettled() async -> Bool {
    await rest()
    var hasSettled = false
    if let lastTicket { store?.whenSettled(lastTicket) { _ in hasSettled = true } }
    return hasSettled
  }

  /// Returns true if no work runs.
  func isIdle() async -> Bool {
    await rest()
    return store?.isIdle ?? true
  }

  /// Closes the store.
  func close() async {
    store?.close()
    await rest()
  }

  private func advance(by duration: Duration) async {
    let end = clock.now.advanced(by: duration)
    await rest()
    while let next = clock.nextDeadline, next <= end {
      clock.advance(to: next)
      await rest()
    }
    clock.advance(to: end)
    await rest()
  }

  /// Runs work until all of it waits.
  func rest() async {
    repeat {
      _ = work.run()
      await Task.yield()
    } while !work.isEmpty
  }

  static func text(_ state: LoadingViewState) -> String {
    switch state {
    case .idle: "idle"
    case .loading(nil): "loading"
    case .loading(let progress?):
      [
        progress.isCancelled ? "cancelled" : "loading", progress.percent.map { "\($0)%" },
        progress.message,
      ].compactMap(\.self).joined(separator: " ")
    case .loaded(let value): "loaded \(value)"
    case .failure(let error): "failure \(error.code)"
    }
  }
}
