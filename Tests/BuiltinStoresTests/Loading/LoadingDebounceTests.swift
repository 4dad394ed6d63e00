// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import Testing

@Suite("Loading: debounce")
struct LoadingDebounceTests {
  /// A mock that loads for two seconds.
  private static let mock =
    #"{"type":"mock","states":[{"after":2,"state":{"type":"loaded","value":1}}]}"#

  private func bench(first: Bool = false) async throws -> LoadingBench {
    try await LoadingBench(
      #"{"type":"debounce","interval":1,"executeFirstImmediately":\#(first),"of":\#(Self.mock)}"#)
  }

  @Test("a debounce window does not change the state, and several calls in it cause one load")
  func window() async throws {
    let bench = try await bench()
    #expect(try await bench.play("load").isEmpty)
    #expect(try await bench.play("0.5 load 0.5 appear 0.5 loadIfNotLoading 0.9").isEmpty)
    #expect(try await bench.play("0.1") == ["2.5 loading"])
    #expect(try await bench.play("10") == ["4.5 loaded 1"])
  }

  @Test("the default interval is 0.3 seconds")
  func interval() async throws {
    let bench = try await LoadingBench(#"{"type":"debounce","of":\#(Self.mock)}"#)
    #expect(try await bench.play("load 0.299999999").isEmpty)
    #expect(try await bench.play("0.000000001") == ["0.3 loading"])
  }

  @Test("a call during a running load opens a window and does not cancel the load")
  func running() async throws {
    let bench = try await bench()
    #expect(try await bench.play("load 1") == ["1 loading"])
    // The window ends at 3.5, after the running load.
    #expect(try await bench.play("1.5 load 0.5") == ["3 loaded 1"])
    #expect(try await bench.play("10") == ["3.5 loading", "5.5 loaded 1"])
  }

  @Test("a new load that begins at the end of its window replaces a running one")
  func takeover() async throws {
    let bench = try await bench()
    try await bench.play("load 1.5 cancel reset load 1")
    #expect(await bench.shown.last == "2.5 loading")
    let cancelled = try await bench.play("0.5 load 1")
    // The state is the same: loading without progress.
    #expect(cancelled.isEmpty)
    #expect(try await bench.play("10") == ["6 loaded 1"], "the load must not end at 4.5")
  }

  @Test(
    "`cancel` and `reset` drop the waiting call of an open window", arguments: ["cancel", "reset"])
  func dropped(input: String) async throws {
    let bench = try await bench()
    #expect(try await bench.play("load 0.5 \(input) 10").isEmpty)
    // With a loaded value.
    try await bench.play("load 10 load 0.5 \(input)")
    #expect(try await bench.play("10").isEmpty)
    // During a running load.
    try await bench.play("reset load 1.5 load 0.1 \(input)")
    #expect(try await bench.play("10").isEmpty)
    #expect(await bench.isIdle())
  }

  @Test(
    "cancelling the request of a load drops the waiting call, until a `reset`",
    arguments: [false, true])
  func cancelledRequest(cancelsAgain: Bool) async throws {
    let bench = try await bench()
    try await bench.play("load 1")
    let first = await bench.lastTicket
    try await bench.play("0.5 load")
    await bench.cancel(try #require(first))
    #expect(await bench.shown == ["1 loading", "1.5 cancelled Cancelled"])
    #expect(await bench.hasSettled())
    #expect(try await bench.play(cancelsAgain ? "cancel 7 load 7" : "7 load 7").isEmpty)
    #expect(await bench.isIdle())
    #expect(try await bench.play("reset load 9").last?.hasSuffix("loaded 1") == true)
  }

  @Test("a newer load that replaces an older one does not drop the waiting call")
  func replaced() async throws {
    let bench = try await bench(first: true)
    // The second load begins immediately, cancels the first and opens a new window.
    try await bench.play("load 1.5 load 0.4 load")
    #expect(await bench.shown == ["0 loading"])
    #expect(try await bench.play("10") == ["4.9 loaded 1"])
  }

  @Test("a window ends without a load when its request is cancelled")
  func request() async throws {
    let bench = try await bench()
    try await bench.play("load 0.5")
    await bench.cancelLastInput()
    #expect(try await bench.play("10").isEmpty)
  }

  @Test("with `executeFirstImmediately` the first call runs immediately, and later ones wait")
  func first() async throws {
    let bench = try await bench(first: true)
    #expect(try await bench.play("load") == ["0 loading"])
    // A single call is not repeated at the end of its window.
    #expect(try await bench.play("10") == ["2 loaded 1"])
    #expect(try await bench.play("load 0.3 load 0.3 load 0.9") == ["10 loading"])
    // The call at 11.6 replaces the load that would have ended at 12.
    #expect(try await bench.play("10") == ["13.6 loaded 1"])
    #expect(try await bench.play("load") == ["21.5 loading"])
  }

  @Test("a debounce inside another policy delays each call")
  func nested() async throws {
    let bench = try await LoadingBench(
      #"""
      {"type":"retry","maxAttempts":2,"backoff":{"base":1},"of":
        {"type":"debounce","interval":0.5,"of":
          {"type":"mock","states":[{"state":{"type":"failure","error":{"code":"a","message":"b"}}}]}}}
      """#)
    #expect(
      try await bench.play("load 10") == [
        "0 loading", "0.5 loading Retrying… (attempt 2 of 2)", "2 failure a",
      ])
  }

  @Test(
    "inside a policy `executeFirstImmediately` runs the first call immediately; later ones wait")
  func nestedFirst() async throws {
    let bench = try await LoadingBench(
      #"""
      {"type":"retry","maxAttempts":3,"backoff":{"base":0.1,"factor":1},"of":
        {"type":"debounce","interval":0.5,"executeFirstImmediately":true,"of":
          {"type":"mock","states":[{"state":{"type":"failure","error":{"code":"a","message":"b"}}}]}}}
      """#)
    #expect(
      try await bench.play("load 10") == [
        "0 loading", "0 loading Retrying… (attempt 2 of 3)",
        "0.6 loading Retrying… (attempt 3 of 3)", "0.7 failure a",
      ])
  }
}
