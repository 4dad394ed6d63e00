// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import StatewireJSON
import Testing

/// Tests of the table of states and inputs, one test for each state.
@Suite("Loading: states and inputs")
struct LoadingTableTests {
  /// Opens a store that loads for two seconds, with 50 % after one second, and optionally fails.
  private func bench(failing: Bool = false) async throws -> LoadingBench {
    let clock = ManualClock()
    let source = ScriptedSource(
      clock,
      [.wait(1), .report(50), .wait(1), failing ? .fail(LoadingFailure.offline) : .load("x")])
    return try await LoadingBench(.source(source), clock: clock)
  }

  @Test(
    "each input in the state idle",
    arguments: [
      ("load", ["0 loading"]), ("loadIfNotLoading", ["0 loading"]), ("appear", ["0 loading"]),
      ("cancel", []), ("reset", []),
    ])
  func idle(input: String, shown: [String]) async throws {
    #expect(try await bench().play(input) == shown)
  }

  @Test(
    "each input in the state loading",
    arguments: [
      // The newest load wins and takes its own two seconds.
      ("load", ["1 loading", "2 loading 50%", "3 loaded \"x\""]),
      ("loadIfNotLoading", ["2 loaded \"x\""]),
      ("appear", ["2 loaded \"x\""]),
      // Neither `loaded` nor `failure` follows.
      ("cancel", ["1 cancelled 50% Cancelled"]),
      ("reset", ["1 idle"]),
    ])
  func loading(input: String, shown: [String]) async throws {
    let bench = try await bench()
    #expect(try await bench.play("load 1") == ["0 loading", "1 loading 50%"])
    #expect(try await bench.play("\(input) 10") == shown)
    #expect(await bench.isIdle(), "the work has ended or was cancelled")
  }

  @Test(
    "each input in the state loaded",
    arguments: [
      ("load", ["2 loading", "3 loading 50%", "4 loaded \"x\""]),
      ("loadIfNotLoading", ["2 loading", "3 loading 50%", "4 loaded \"x\""]),
      ("appear", []), ("cancel", []), ("reset", ["2 idle"]),
    ])
  func loaded(input: String, shown: [String]) async throws {
    let bench = try await bench()
    #expect(try await bench.play("load 2") == ["0 loading", "1 loading 50%", "2 loaded \"x\""])
    #expect(try await bench.play("\(input) 10") == shown)
  }

  @Test(
    "each input in the state failure",
    arguments: [
      ("load", ["2 loading", "3 loading 50%", "4 failure offline"]),
      ("loadIfNotLoading", ["2 loading", "3 loading 50%", "4 failure offline"]),
      ("appear", []), ("cancel", []), ("reset", ["2 idle"]),
    ])
  func failure(input: String, shown: [String]) async throws {
    let bench = try await bench(failing: true)
    #expect(try await bench.play("load 2") == ["0 loading", "1 loading 50%", "2 failure offline"])
    #expect(try await bench.play("\(input) 10") == shown)
  }

  @Test(
    "each input in the state loading, after it was cancelled",
    arguments: [
      ("load", []), ("loadIfNotLoading", []), ("appear", []), ("cancel", []),
      ("reset", ["1.5 idle"]),
    ])
  func cancelled(input: String, shown: [String]) async throws {
    let bench = try await bench()
    try await bench.play("load 1.5 cancel")
    #expect(try await bench.play("\(input) 10") == shown)
    // After a reset the store loads as usual.
    #expect(
      try await bench.play("reset load 5").suffix(3) == [
        "11.5 loading", "12.5 loading 50%", "13.5 loaded \"x\"",
      ])
  }

  @Test("a cancelled load keeps its percent, also an unknown one")
  func percent() async throws {
    let bench = try await bench()
    #expect(try await bench.play("load cancel") == ["0 loading", "0 cancelled Cancelled"])
    #expect(
      try await bench.play("reset load 1 cancel").suffix(2) == [
        "1 loading 50%", "1 cancelled 50% Cancelled",
      ])
  }

  @Test("`cancel`, `reset` and a newer load cancel the work of the source")
  func stops() async throws {
    let clock = ManualClock()
    let source = ScriptedSource(clock, [.wait(5), .load("x")])
    let bench = try await LoadingBench(.source(source), clock: clock)
    for (input, count) in [("cancel", 1), ("reset", 1), ("load", 1)] {
      let before = source.cancelled
      try await bench.play("reset load 1 \(input)")
      #expect(source.cancelled == before + count)
    }
    await bench.close()
    #expect(source.cancelled == 4)
    #expect(clock.sleeperCount == 0)
  }

  @Test("the loading state comes before the response, and the states of the work after it")
  func immediate() async throws {
    let bench = try await LoadingBench(Loader { _ in .loaded("x") })
    try await bench.send(.load)
    #expect(await bench.shown == ["0 loading"])
    #expect(try await bench.play("") == ["0 loaded \"x\""])
  }

  @Test("cancelling the request cancels the load")
  func request() async throws {
    let bench = try await bench()
    try await bench.play("load 1")
    await bench.cancelLastInput()
    #expect(try await bench.play("10 load").isEmpty)
    #expect(await bench.shown.last == "1 cancelled 50% Cancelled")
  }

  @Test("an input is settled when its load has ended")
  func settling() async throws {
    let bench = try await bench()
    try await bench.play("load 1")
    #expect(await !bench.hasSettled())
    try await bench.play("1")
    #expect(await bench.hasSettled())
  }

  @Test("only states of the newest load are folded, in the order of their numbers")
  func generations() {
    let machine = LoadingStore(.mock([]))
    var state = machine.initialState
    func shown(after actions: LoadingStore.Action...) -> String {
      for action in actions { machine.reduce(&state, action) }
      return LoadingBench.text(state.shown)
    }
    func percent(_ percent: Int, _ generation: Int, _ number: Int) -> LoadingStore.Action {
      .show(
        .loading(progress: LoadingProgress(percent: percent)), generation: generation,
        number: number)
    }
    #expect(shown(after: .began(generation: 1), percent(10, 1, 1)) == "loading 10%")
    #expect(shown(after: percent(30, 1, 3), percent(20, 1, 2)) == "loading 30%")
    #expect(shown(after: .began(generation: 2), percent(40, 1, 4)) == "loading")
    #expect(shown(after: .stopped(generation: 1)) == "loading")
    #expect(
      shown(after: .show(.loaded(value: "x"), generation: 2, number: 5), percent(50, 2, 4))
        == "loaded \"x\"")
    #expect(
      shown(after: .began(generation: 3), .cancel, percent(50, 3, 1)) == "cancelled Cancelled")
    #expect(shown(after: .reset, percent(50, 3, 2), .stopped(generation: 3)) == "idle")
  }

  @Test("an unknown error of a source is shown as `source.failed`")
  func foreignErrors() async throws {
    struct Weird: Error {}
    let clock = ManualClock()
    let bench = try await LoadingBench(
      .source(ScriptedSource(clock, [.fail(Weird())])), clock: clock)
    #expect(try await bench.play("load") == ["0 loading", "0 failure source.failed"])
  }

  @Test("a fault can be injected into the source and into the whole load")
  func faults() async throws {
    let bench = try await bench()
    bench.faults.inject(.fail, into: "source")
    #expect(try await bench.play("load") == ["0 loading", "0 failure fault.injected"])
    bench.faults.inject(.fail, into: "load")
    #expect(try await bench.play("load") == ["0 loading", "0 failure fault.injected"])
    bench.faults.inject(.delay(.seconds(1)), into: "source")
    #expect(
      try await bench.play("load 5") == ["0 loading", "2 loading 50%", "3 loaded \"x\""])
    bench.faults.inject(.hang, into: "source")
    #expect(
      try await bench.play("load 100 cancel") == ["5 loading", "105 cancelled Cancelled"])
    #expect(await bench.isIdle())
  }
}
