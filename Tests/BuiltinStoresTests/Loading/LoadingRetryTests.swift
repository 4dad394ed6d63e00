// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StateMachines
import TestSupport
import Testing

@testable import BuiltinStores

@Suite("Loading: retry and timeout")
struct LoadingRetryTests {
  private let clock = ManualClock()

  @Test("a loader retries after 1, 2, 4 … seconds and shows only the last failure")
  func waits() async throws {
    let source = ScriptedSource(clock, [.fail(LoadingFailure.offline)])
    let bench = try await LoadingBench(
      #"{"type":"retry","maxAttempts":4,"of":{"type":"source","name":"user"}}"#,
      sources: ["user": source], clock: clock)
    #expect(
      try await bench.play("load 100") == [
        "0 loading", "0 loading Retrying… (attempt 2 of 4)",
        "1 loading Retrying… (attempt 3 of 4)", "3 loading Retrying… (attempt 4 of 4)",
        "7 failure offline",
      ])
    #expect(source.begun == 4)
    // The number of attempts starts again with each load.
    #expect(try await bench.play("load").last == "100 loading Retrying… (attempt 2 of 4)")
    try await bench.play("100")
    #expect(source.begun == 8)
  }

  @Test("a retry waits as long as the backoff gives, but at most its maximum")
  func backoff() async throws {
    let source = ScriptedSource(clock, [.fail(LoadingFailure.offline)])
    let bench = try await LoadingBench(
      #"""
      {"type":"retry","maxAttempts":6,"backoff":{"type":"exponential","base":0.5,"factor":3,"max":10},
      "of":{"type":"source","name":"user"}}
      """#, sources: ["user": source], clock: clock)
    try await bench.play("load 100")
    // 0.5, 1.5, 4.5, 10, 10
    #expect(
      await bench.shown.map { $0.prefix { $0 != " " } } == [
        "0", "0", "0.5", "2", "6.5", "16.5", "26.5",
      ])
  }

  @Test("with one attempt a loader does not retry")
  func once() async throws {
    let source = ScriptedSource(clock, [.fail(LoadingFailure.offline)])
    let bench = try await LoadingBench(Loader.source(source).retried(attempts: 1), clock: clock)
    #expect(try await bench.play("load 100") == ["0 loading", "0 failure offline"])
    #expect(source.begun == 1)
  }

  @Test("the retry text stays until the next progress, and a new attempt may have a lower percent")
  func progress() async throws {
    let source = ScriptedSource(
      clock, [.report(80, "Half"), .wait(1), .fail(LoadingFailure.offline)],
      [.wait(2), .report(10), .report(5), .wait(1), .load("x")])
    let bench = try await LoadingBench(Loader.source(source).retried(attempts: 3), clock: clock)
    #expect(
      try await bench.play("load 10") == [
        "0 loading", "0 loading 80% Half", "1 loading Retrying… (attempt 2 of 3)", "4 loading 10%",
        "5 loaded \"x\"",
      ])
  }

  @Test("`cancel` and `reset` end the wait for a retry", arguments: ["cancel", "reset"])
  func cancelling(input: String) async throws {
    let source = ScriptedSource(clock, [.fail(LoadingFailure.offline)])
    let bench = try await LoadingBench(Loader.source(source).retried(attempts: 3), clock: clock)
    try await bench.play("load 0.5 \(input)")
    #expect(clock.sleeperCount == 0)
    #expect(try await bench.play("10").isEmpty)
    #expect(
      await bench.shown.last == (input == "cancel" ? "0.5 cancelled Cancelled" : "0.5 idle"))
    #expect(source.begun == 1)
  }

  @Test("an injected fault is retried like any other failure")
  func faults() async throws {
    let bench = try await LoadingBench(
      #"""
      {"type":"retry","maxAttempts":3,"of":
        {"type":"mock","states":[{"after":1,"state":{"type":"loaded","value":1}}]}}
      """#)
    bench.faults.inject(.fail, into: "mock", times: 2)
    #expect(
      try await bench.play("load 10") == [
        "0 loading", "0 loading Retrying… (attempt 2 of 3)", "1 loading Retrying… (attempt 3 of 3)",
        "4 loaded 1",
      ])
  }

  @Test("a timeout cancels the inner work and is a failure with its own text")
  func timeout() async throws {
    let source = ScriptedSource(clock, [.wait(1), .report(30), .wait(10), .load("x")])
    let bench = try await LoadingBench(
      #"{"type":"timeout","interval":2.5,"of":{"type":"source","name":"user"}}"#,
      sources: ["user": source], clock: clock)
    #expect(
      try await bench.play("load 20") == ["0 loading", "1 loading 30%", "2.5 failure timeout"])
    #expect(source.cancelled == 1)
    #expect(Text.requestTimedOut.message == "Request timed out")
  }

  @Test("a load that ends before the timeout is not a failure")
  func inTime() async throws {
    let source = ScriptedSource(clock, [.wait(2), .load("x")])
    let bench = try await LoadingBench(
      Loader.source(source).timeout(after: .seconds(3)), clock: clock)
    #expect(try await bench.play("load 20") == ["0 loading", "2 loaded \"x\""])
    #expect(clock.sleeperCount == 0)
  }

  @Test("a timeout inside a retry applies to each attempt, a timeout around it to all together")
  func nesting() async throws {
    let slow = #"{"type":"mock","states":[{"after":9,"state":{"type":"loaded","value":1}}]}"#
    let each = try await LoadingBench(
      #"""
      {"type":"retry","maxAttempts":2,"of":{"type":"timeout","interval":2,"of":\#(slow)}}
      """#)
    #expect(
      try await each.play("load 20") == [
        "0 loading", "2 loading Retrying… (attempt 2 of 2)", "5 failure timeout",
      ])
    let together = try await LoadingBench(
      #"""
      {"type":"timeout","interval":4,"of":{"type":"retry","maxAttempts":9,"of":
        {"type":"timeout","interval":2,"of":\#(slow)}}}
      """#)
    #expect(
      try await together.play("load 20") == [
        "0 loading", "2 loading Retrying… (attempt 2 of 9)", "4 failure timeout",
      ])
  }

  @Test("a source that ignores its cancellation does not delay the timeout")
  func deaf() async throws {
    let gate = Gate()
    let source = ScriptedSource(
      clock, [.gate(gate), .report(99), .load("late")], [.wait(1), .load("x")])
    let loader = Loader.source(source).timeout(after: .seconds(2))
    let bench = try await LoadingBench(loader, clock: clock)
    #expect(try await bench.play("load 5") == ["0 loading", "2 failure timeout"])
    #expect(await bench.hasSettled(), "no input waits for the abandoned work")
    gate.open()
    #expect(try await bench.play("5").isEmpty, "late progress and results must be dropped")
    #expect(await bench.isIdle())
    #expect(try await bench.play("load 5") == ["10 loading", "11 loaded \"x\""])
  }

  @Test("a source that ignores its cancellation delays no retry, no new load and no closing")
  func deafInside() async throws {
    let gate = Gate()
    let source = ScriptedSource(clock, [.gate(gate), .load("late")], [.wait(1), .load("x")])
    let bench = try await LoadingBench(
      Loader.source(source).timeout(after: .seconds(2)).retried(attempts: 2), clock: clock)
    #expect(
      try await bench.play("load 5") == [
        "0 loading", "2 loading Retrying… (attempt 2 of 2)", "4 loaded \"x\"",
      ])
    #expect(try await bench.play("load 5") == ["5 loading", "6 loaded \"x\""])
    gate.open()
    await bench.rest()
    await bench.close()
    #expect(await bench.isIdle())
  }

  @Test("a report from a separate task after the end of the source is dropped")
  func lateReports() async throws {
    let gate = Gate()
    let source = ScriptedSource(
      clock, [.reportLater(gate, 70), .wait(1), .fail(LoadingFailure.offline)],
      [.wait(100), .load("x")])
    let bench = try await LoadingBench(Loader.source(source).retried(attempts: 2), clock: clock)
    try await bench.play("load 5")
    gate.open()
    // The separate task must not change anything, whatever it does.
    for _ in 0..<1_000 { await Task.yield() }
    #expect(try await bench.play("1").isEmpty)
    #expect(await bench.shown.last == "1 loading Retrying… (attempt 2 of 2)")
  }
}
