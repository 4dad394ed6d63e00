// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import StatewireJSON
import Testing

/// The table of states and inputs, row by row.
@Suite("Loading: states and inputs")
struct LoadingTableTests {
  /// Loads for two seconds, halfway at 1; fails instead if the test says so.
  private func bench(failing: Bool = false) async throws -> LoadingBench {
    let clock = ManualClock()
    let source = PuppetSource(
      clock,
      [.wait(1), .report(50), .wait(1), failing ? .fail(LoadingFailure.offline) : .load("x")])
    return try await LoadingBench(.source(source), clock: clock)
  }

  @Test(
    "idle",
    arguments: [
      ("load", ["0 loading"]), ("loadIfNotLoading", ["0 loading"]), ("appear", ["0 loading"]),
      ("cancel", []), ("reset", []),
    ])
  func idle(input: String, shown: [String]) async throws {
    #expect(try await bench().play(input) == shown)
  }

  @Test(
    "loading",
    arguments: [
      // The newest generation wins: its two seconds count.
      ("load", ["1 loading", "2 loading 50%", "3 loaded \"x\""]),
      ("loadIfNotLoading", ["2 loaded \"x\""]),
      ("appear", ["2 loaded \"x\""]),
      // Then neither loaded nor failure.
      ("cancel", ["1 cancelled 50% Cancelled"]),
      ("reset", ["1 idle"]),
    ])
  func loading(input: String, shown: [String]) async throws {
    let bench = try await bench()
    #expect(try await bench.play("load 1") == ["0 loading", "1 loading 50%"])
    #expect(try await bench.play("\(input) 10") == shown)
    #expect(await bench.isIdle(), "the work has been stopped, or has ended")
  }

  @Test(
    "loaded",
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
    "failure",
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
    "loading, cancelled",
    arguments: [
      ("load", []), ("loadIfNotLoading", []), ("appear", []), ("cancel", []),
      ("reset", ["1.5 idle"]),
    ])
  func cancelled(input: String, shown: [String]) async throws {
    let bench = try await bench()
    try await bench.play("load 1.5 cancel")
    #expect(try await bench.play("\(input) 10") == shown)
    // After a reset it loads as ever.
    #expect(
      try await bench.play("reset load 5").suffix(3) == [
        "11.5 loading", "12.5 loading 50%", "13.5 loaded \"x\"",
      ])
  }

  @Test("a cancelled load keeps the percent it had, unknown ones too")
  func percent() async throws {
    let bench = try await bench()
    #expect(try await bench.play("load cancel") == ["0 loading", "0 cancelled Cancelled"])
    #expect(
      try await bench.play("reset load 1 cancel").suffix(2) == [
        "1 loading 50%", "1 cancelled 50% Cancelled",
      ])
  }

  @Test("cancelling stops the work that the source does")
  func stops() async throws {
    let clock = ManualClock()
    let source = PuppetSource(clock, [.wait(5), .load("x")])
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

  @Test("the state before the work comes with the answer, and the work's own states later")
  func immediate() async throws {
    let bench = try await LoadingBench(Loader { _ in .loaded("x") })
    try await bench.send(.load)
    #expect(await bench.shown == ["0 loading"])
    #expect(try await bench.play("") == ["0 loaded \"x\""])
  }

  @Test("cancelling the request is cancelling the load")
  func request() async throws {
    let bench = try await bench()
    try await bench.play("load 1")
    await bench.cancelLastInput()
    #expect(try await bench.play("10 load").isEmpty)
    #expect(await bench.shown.last == "1 cancelled 50% Cancelled")
  }

  @Test("an input settles when its load has ended, and when a newer one replaces it")
  func settling() async throws {
    let bench = try await bench()
    try await bench.play("load 1")
    #expect(await !bench.hasSettled())
    try await bench.play("1")
    #expect(await bench.hasSettled())
  }

  @Test("states are folded only of the newest load, and in the order in which they were made")
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

  @Test("errors of a source that are none of its own get a text of ours")
  func foreignErrors() async throws {
    struct Weird: Error {}
    let clock = ManualClock()
    let bench = try await LoadingBench(
      .source(PuppetSource(clock, [.fail(Weird())])), clock: clock)
    #expect(try await bench.play("load") == ["0 loading", "0 failure source.failed"])
  }

  @Test("an injected fault is the failure of the source, or of the whole load")
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
