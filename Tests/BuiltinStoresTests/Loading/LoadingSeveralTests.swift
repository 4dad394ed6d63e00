// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import TestSupport
import Testing

@Suite("Loading: all, sequence and mock")
struct LoadingSeveralTests {
  private let clock = ManualClock()

  private func bench(_ loader: ([ScriptedSource]) -> Loader, _ calls: [ScriptedSource.Step]...)
    async throws -> LoadingBench
  {
    try await LoadingBench(loader(calls.map { ScriptedSource(clock, $0) }), clock: clock)
  }

  private func all(_ sources: [ScriptedSource]) -> Loader { .all(sources.map { .source($0) }) }
  private func sequence(_ sources: [ScriptedSource]) -> Loader {
    .sequence(sources.map { .source($0) })
  }

  @Test("`all` gives the values in the order of its parts")
  func order() async throws {
    let bench = try await bench(all, [.wait(3), .load("a")], [.wait(1), .load("b")])
    #expect(try await bench.play("load 5") == ["0 loading", #"3 loaded ["a","b"]"#])
  }

  @Test("the percent of `all` is the mean, rounded down; unknown counts as 0; it never decreases")
  func mean() async throws {
    let bench = try await bench(
      all, [.wait(1), .report(50), .wait(2), .report(91), .wait(3), .load("a")],
      [.wait(2), .report(25, "b"), .wait(3), .report(nil, "still"), .wait(1), .load("b")],
      [.wait(4), .report(0), .wait(2), .load("c")])
    #expect(
      try await bench.play("load 10") == [
        "0 loading", "1 loading 16%", "2 loading 25% b", "3 loading 38%", "5 loading 38% still",
        #"6 loaded ["a","b","c"]"#,
      ])
  }

  @Test("the first failure ends `all` and cancels the other parts")
  func firstFailure() async throws {
    let gate = Gate()
    let other = ScriptedSource(clock, [.wait(9), .load("c")])
    let bench = try await bench(
      { .all($0.map { .source($0) } + [.source(other)]) },
      [.wait(1), .load("a")], [.wait(2), .fail(LoadingFailure.offline)], [.gate(gate), .load("d")])
    #expect(try await bench.play("load 10") == ["0 loading", "2 failure offline"])
    #expect(other.cancelled == 1)
    gate.open()
    #expect(try await bench.play("1").isEmpty)
    #expect(await bench.isIdle())
  }

  @Test("`sequence` starts a part when the previous one has loaded, and gives the last value")
  func sequence() async throws {
    let bench = try await bench(
      sequence, [.wait(1), .load("a")], [.report(10), .wait(1), .report(60), .wait(1), .load("b")])
    #expect(
      try await bench.play("load 10") == [
        "0 loading", "1 loading 55%", "2 loading 80%", "3 loaded \"b\"",
      ])
  }

  @Test("the percent of `sequence` does not decrease from one part to the next")
  func sequencePercent() async throws {
    let bench = try await bench(
      sequence, [.report(70), .wait(1), .load("a")],
      [.report(10, "b"), .wait(1), .report(80), .load("b")])
    #expect(
      try await bench.play("load 10") == [
        "0 loading", "0 loading 35%", "1 loading 55% b", "2 loading 90%", "2 loaded \"b\"",
      ])
  }

  @Test("`all` fails as soon as its parts together are too large")
  func tooLarge() async throws {
    let text = String(repeating: "x", count: LoadedValue.maximumBytes / 2)
    let bench = try await bench(
      all, [.wait(1), .load(LoadedValue(text: text))], [.wait(2), .load(LoadedValue(text: text))],
      [.wait(9), .load("c")])
    #expect(try await bench.play("load 10") == ["0 loading", "2 failure all.tooLarge"])
  }

  @Test("neither `all` nor `sequence` shows 100 before every part has loaded")
  func hundred() async throws {
    // One source is small, the other is large and of unknown size.
    let small = [ScriptedSource.Step.report(100), .wait(0.1), .load("a")]
    let large = [ScriptedSource.Step.wait(1), .report(nil, "large"), .wait(0.1), .load("b")]
    let bench = try await bench(all, small, large)
    #expect(
      try await bench.play("load 5") == [
        "0 loading", "0 loading 50%", "1 loading 50% large", #"1.1 loaded ["a","b"]"#,
      ])
    let row = try await self.bench(sequence, small, [.report(100), .wait(1), .load("b")])
    #expect(
      try await row.play("load 5") == [
        "5 loading", "5 loading 50%", "5.1 loading 99%", #"6.1 loaded "b""#,
      ])
    // The percent is unknown until a part reports one.
    let unknown = try await self.bench(all, [.wait(1), .load("a")], large)
    #expect(
      try await unknown.play("load 5") == [
        "10 loading", "11 loading large", #"11.1 loaded ["a","b"]"#,
      ])
  }

  @Test("a nested part counts with its own mean")
  func nestedMeans() async throws {
    let bench = try await bench(
      { .all([.source($0[0]), .sequence([.source($0[1]), .source($0[2])])]) },
      [.report(50), .wait(4), .load("a")], [.wait(1), .report(50), .wait(1), .load("b")],
      [.wait(1), .report(100), .wait(1), .load("c")])
    #expect(
      try await bench.play("load 5") == [
        "0 loading", "0 loading 25%", "1 loading 37%", "3 loading 74%", #"4 loaded ["a","c"]"#,
      ])
  }

  @Test("a retry inside `all` does not decrease the percent of the whole")
  func retryInside() async throws {
    let bench = try await LoadingBench(
      #"""
      {"type":"all","of":[{"type":"mock","states":[{"after":9,"state":{"type":"loaded","value":1}}]},
        {"type":"retry","maxAttempts":2,"backoff":{"base":1},"of":{"type":"mock","states":[
          {"state":{"type":"loading","progress":{"percent":80}}},
          {"after":1,"state":{"type":"failure","error":{"code":"a","message":"b"}}}]}}]}
      """#)
    #expect(
      try await bench.play("load 10") == [
        "0 loading", "0 loading 40%", "1 loading 40% Retrying… (attempt 2 of 2)", "2 loading 40%",
        "3 failure a",
      ])
  }

  @Test("a failure ends `sequence`")
  func sequenceFailure() async throws {
    let last = ScriptedSource(clock, [.load("c")])
    let bench = try await bench(
      { .sequence($0.map { .source($0) } + [.source(last)]) },
      [.wait(1), .load("a")], [.wait(1), .fail(LoadingFailure.offline)])
    #expect(try await bench.play("load 10") == ["0 loading", "2 failure offline"])
    #expect(last.begun == 0)
  }

  @Test(
    "`cancel` and `reset` stop all running parts and start no further one",
    arguments: ["cancel", "reset"])
  func cancelling(input: String) async throws {
    let last = ScriptedSource(clock, [.load("c")])
    for loader in [
      Loader.sequence([.source(ScriptedSource(clock, [.wait(1), .load("a")])), .source(last)]),
      .all([
        .source(ScriptedSource(clock, [.wait(1), .load("a")])),
        .sequence([.source(ScriptedSource(clock, [.wait(1), .load("b")])), .source(last)]),
      ]),
    ] {
      let bench = try await LoadingBench(loader, clock: clock)
      try await bench.play("load 0.5 \(input)")
      #expect(clock.sleeperCount == 0)
      #expect(try await bench.play("10").isEmpty)
    }
    #expect(last.begun == 0)
  }

  @Test("percents are clamped to 0...100 and never decrease within an attempt")
  func percents() async throws {
    let bench = try await bench(
      { .source($0[0]) },
      [
        .report(-5), .report(30), .report(20), .report(nil, "?"), .report(10, "!"), .report(700),
        .load("x"),
      ])
    #expect(
      try await bench.play("load") == [
        "0 loading", "0 loading 0%", "0 loading 30%", "0 loading ?", "0 loading 30% !",
        "0 loading 100%", "0 loaded \"x\"",
      ])
  }

  @Test("a mock shows its states in order, each after its delay")
  func mock() async throws {
    let bench = try await LoadingBench(
      #"""
      {"type":"mock","states":[
        {"after":1,"state":{"type":"loading","progress":{"percent":10,"message":"A"}}},
        {"after":0.5,"state":{"type":"failure","error":{"code":"a","message":"b"}}},
        {"after":1,"state":{"type":"loading","progress":{"percent":5.9}}},
        {"state":{"type":"loading","progress":{"percent":2}}},
        {"after":1,"state":{"type":"idle"}},
        {"after":1,"state":{"type":"loading"}},
        {"after":1,"state":{"type":"loaded","value":{"a":[1,null]}}}]}
      """#)
    #expect(
      try await bench.play("load 100") == [
        "0 loading", "1 loading 10% A", "1.5 failure a", "2.5 loading 5%", "3.5 idle",
        "4.5 loading", #"5.5 loaded {"a":[1,null]}"#,
      ])
    #expect(await bench.isIdle())
  }

  @Test("the percent of a mock does not decrease after an unknown percent")
  func mockUnknown() async throws {
    func loading(_ progress: String) -> String {
      #"{"after":1,"state":{"type":"loading","progress":\#(progress)}}"#
    }
    let states =
      [#"{"percent":60}"#, "null", #"{"percent":35}"#].map(loading)
      + [#"{"after":1,"state":{"type":"loaded","value":1}}"#]
    let bench = try await LoadingBench(
      #"{"type":"mock","states":[\#(states.joined(separator: ","))]}"#)
    #expect(
      try await bench.play("load 9") == [
        "0 loading", "1 loading 60%", "2 loading", "3 loading 60%", "4 loaded 1",
      ])
  }

  @Test("policies around a mock see only its progress and its outcome")
  func mockInside() async throws {
    let bench = try await LoadingBench(
      #"""
      {"type":"timeout","interval":50,"of":{"type":"mock","states":[
        {"after":1,"state":{"type":"loading","progress":{"percent":10,"isCancelled":true}}},
        {"after":1,"state":{"type":"failure","error":{"code":"a","message":"b"}}},
        {"after":1,"state":{"type":"idle"}}, {"after":1,"state":{"type":"loaded","value":1}},
        {"after":1,"state":{"type":"loading"}},
        {"after":1,"state":{"type":"failure","error":{"code":"c","message":"d"}}}]}}
      """#)
    #expect(
      try await bench.play("load 100") == ["0 loading", "1 loading 10%", "6 failure c"])
  }

  @Test(
    "a mock that ends with loading or idle never ends",
    arguments: [#"{"type":"loading"}"#, #"{"type":"idle"}"#])
  func endless(last: String) async throws {
    let mock = #"{"type":"mock","states":[{"after":1,"state":\#(last)}]}"#
    let bench = try await LoadingBench(mock)
    try await bench.play("load 1000000000")
    #expect(await !bench.isIdle())
    try await bench.play("reset")
    #expect(await bench.isIdle())
    let inside = try await LoadingBench(#"{"type":"timeout","interval":5,"of":\#(mock)}"#)
    #expect(try await inside.play("load 9") == ["0 loading", "5 failure timeout"])
  }

  @Test("a tree with an unknown source is refused with the path of its name")
  func unknownSource() async throws {
    let source = #"{"type":"source","name":"x"}"#
    for (tree, path) in [
      (source, ["name"]),
      (#"{"type":"retry","maxAttempts":1,"of":\#(source)}"#, ["of", "name"]),
      (
        #"{"type":"all","of":[{"type":"source","name":"y"},{"type":"sequence","of":[\#(source)]}]}"#,
        ["of", "1", "of", "0", "name"]
      ),
    ] {
      let error = await #expect(throws: ConfigurationError.self) {
        try await LoadingBench(tree, sources: ["y": ScriptedSource(clock, [])])
      }
      #expect(error?.path == path)
    }
  }
}
