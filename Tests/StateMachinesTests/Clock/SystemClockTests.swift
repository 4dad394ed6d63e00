// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StateMachines

@Suite("System clock", .timeLimit(.minutes(15)))
struct SystemClockTests {
  // The runtime keeps the memory of a cancelled sleep until the original deadline. Therefore the
  // clock splits a long sleep into pieces. If it split wrongly, the sleep would end after the first
  // piece.
  @Test(
    "a sleep lasts until its deadline when it is split into pieces", arguments: [1, 7, 30, 1000])
  func pieces(milliseconds: Int) async throws {
    let clock = SystemClock(longestSleep: .milliseconds(milliseconds))
    let deadline = clock.now.advanced(by: .milliseconds(30))
    try await clock.sleep(until: deadline, tolerance: nil)
    #expect(clock.now >= deadline)
  }

  @Test("a sleep with a past deadline returns immediately")
  func over() async throws {
    let clock = SystemClock()
    try await clock.sleep(until: clock.now.advanced(by: .seconds(-1)), tolerance: nil)
  }

  @Test("a sleep of a hundred years ends when it is cancelled")
  func cancellation() async {
    let clock = SystemClock(longestSleep: .milliseconds(1))
    let sleeper = Task { try await clock.sleep(for: .seconds(3_153_600_000)) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }

  @Test("the clock returns the uptime and the date")
  func times() {
    let clock = SystemClock()
    let before = clock.uptime
    #expect(before >= .zero && clock.uptime >= before)
    #expect(clock.sinceEpoch > .seconds(1_700_000_000))
  }
}
