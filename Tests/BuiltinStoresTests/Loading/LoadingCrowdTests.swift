// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import StatewireJSON
import TestSupport
import Testing

@testable import StateMachinesTesting

/// An actor with many stores and one clock, as in a session.
private actor Crowd: StoreHost {
  let clock: ManualClock
  private let work = WorkQueue()
  private var stores: [Store<LoadingStore>] = []

  init(clock: ManualClock) { self.clock = clock }

  func open(_ machine: LoadingStore) throws {
    stores.append(
      try Store(
        machine, number: StoreNumber(stores.count), host: self,
        environment: StoreEnvironment(clock: clock, executor: work)))
  }

  func deliver(_ message: EffectMessage) { stores[message.store.rawValue].receive(message) }

  func sendAll(_ input: LoadingInput) throws {
    for store in stores { try store.send(input) }
  }

  func rest() async {
    repeat {
      _ = work.run()
      await Task.yield()
    } while !work.isEmpty
  }

  func advance(by duration: Duration) async {
    let end = clock.now.advanced(by: duration)
    await rest()
    while let next = clock.nextDeadline, next <= end {
      clock.advance(to: next)
      await rest()
    }
    clock.advance(to: end)
    await rest()
  }

  var states: [String] { stores.map { LoadingBench.text($0.state.shown) } }
  var isIdle: Bool { stores.allSatisfy(\.isIdle) }
}

@Suite("Loading: many at the same time")
struct LoadingCrowdTests {
  @Test("a thousand loaders with debounce, retry and timeout reach the expected states")
  func thousand() async throws {
    let clock = ManualClock()
    let crowd = Crowd(clock: clock)
    let gate = Gate()
    var expected: [String] = []
    for number in 0..<1_000 {
      let value = LoadedValue(text: "\(number)")
      let fail = ScriptedSource.Step.fail(LoadingFailure.offline)
      let source =
        switch number % 5 {
        case 0: ScriptedSource(clock, [.report(number % 100), .load(value)])
        case 1: ScriptedSource(clock, [fail], [.wait(4), .load(value)])
        case 2: ScriptedSource(clock, [.wait(9)], [.wait(Double(number % 7)), .load(value)])
        case 3: ScriptedSource(clock, [fail], [.wait(6)], [.wait(1), fail])
        default: ScriptedSource(clock, [fail], [.gate(gate), .load(value)], [.wait(7)])
        }
      let end =
        switch number % 5 {
        case 2 where number % 7 >= 5: "failure timeout"
        case 0, 1, 2: "loaded \"\(number)\""
        case 3: "failure offline"
        default: "failure timeout"
        }
      expected.append(end)
      try await crowd.open(
        LoadingStore(
          Loader.source(source)
            .timeout(after: .milliseconds(4_500))
            .retried(attempts: number % 5 == 2 ? 2 : 3)
            .debounced(executeFirstImmediately: number % 2 == 0)))
    }
    try await crowd.sendAll(.load)
    await crowd.advance(by: .milliseconds(100))
    try await crowd.sendAll(.loadIfNotLoading)
    await crowd.advance(by: .seconds(100))
    #expect(await crowd.states == expected)
    gate.open()
    await crowd.rest()
    #expect(await crowd.isIdle)
    #expect(clock.sleeperCount == 0)
  }

  @Test("a thousand loaders that share one limit all run, in order")
  func limited() async throws {
    let clock = ManualClock()
    let crowd = Crowd(clock: clock)
    let permits = AsyncSemaphore(10)
    for number in 0..<1_000 {
      let source = ScriptedSource(clock, [.wait(1), .load(LoadedValue(text: "\(number)"))])
      try await crowd.open(LoadingStore(Loader.source(source).limited(to: permits)))
    }
    try await crowd.sendAll(.load)
    await crowd.advance(by: .seconds(37))
    let states = await crowd.states
    #expect(states == (0..<1_000).map { $0 < 370 ? "loaded \"\($0)\"" : "loading" })
    #expect(permits.waiting == 620)
    try await crowd.sendAll(.cancel)
    await crowd.rest()
    #expect(permits.waiting == 0)
    try await crowd.sendAll(.reset)
    try await crowd.sendAll(.load)
    await crowd.advance(by: .seconds(100))
    #expect(await crowd.states == (0..<1_000).map { "loaded \"\($0)\"" })
  }
}

/// Tests of races that are possible with threads: a load may end while it is cancelled, and a
/// source may report while its attempt times out. The state must be consistent in every order.
@Suite("Loading: races")
struct LoadingRaceTests {
  private actor Host: StoreHost {
    private var store: Store<LoadingStore>?
    private(set) var shown: [LoadingViewState] = []

    func open(_ loader: Loader, _ clock: ManualClock) throws {
      let store = try Store(
        LoadingStore(loader), number: StoreNumber(1), host: self,
        environment: StoreEnvironment(clock: clock))
      self.store = store
      _ = store.listen { _ in
        self.assumeIsolated { host in
          if let store = host.store { host.shown.append(store.state.shown) }
        }
      }
    }

    func deliver(_ message: EffectMessage) { store?.receive(message) }
    func send(_ input: LoadingInput) throws { try store?.send(input) }
    var state: LoadingViewState { store?.state.shown ?? .idle }
    func close() async { for task in store?.close() ?? [] { await task.value } }
  }

  private struct Busy: LoadingSource {
    func load(_ report: @escaping @Sendable (LoadingProgress) async -> Void) async throws
      -> LoadedValue
    {
      await withTaskGroup { group in
        for part in 0..<4 {
          group.addTask {
            for step in 1...5 {
              await report(LoadingProgress(percent: step * 20, message: "\(part)"))
            }
          }
        }
      }
      return "x"
    }
  }

  @Test("a cancelled load stays cancelled when its work ends or reports later", arguments: 0..<20)
  func cancelling(round: Int) async throws {
    let clock = ManualClock()
    let host = Host()
    let busy = Loader.source(Busy())
    try await host.open(
      .all([busy, busy]).timeout(after: .seconds(1)).retried(attempts: 3), clock)
    for turn in 0..<20 {
      try await host.send(.load)
      for _ in 0..<(round + turn) % 13 { await Task.yield() }
      try await host.send(turn % 3 == 0 ? .reset : .cancel)
      let state = await host.state
      for _ in 0..<20 { await Task.yield() }
      #expect(await host.state == state)
      if case .loading(let progress) = state { #expect(progress?.isCancelled == true) }
      try await host.send(.reset)
    }
    await host.close()
    #expect(clock.sleeperCount == 0)
  }

  @Test("percents never decrease when several threads report them")
  func rising() async throws {
    let clock = ManualClock()
    let host = Host()
    let busy = Loader.source(Busy())
    try await host.open(.all([busy, busy, busy]), clock)
    for _ in 0..<20 {
      try await host.send(.load)
      let end = LoadingViewState.loaded(value: try LoadedValue(array: ["x", "x", "x"]))
      await eventually("all parts are loaded") { await host.state == end }
    }
    var last = 0
    for state in await host.shown {
      guard case .loading(let progress) = state else { continue }
      guard let percent = progress?.percent else {
        last = 0
        continue
      }
      #expect(percent >= last)
      last = percent
    }
    await host.close()
  }
}
