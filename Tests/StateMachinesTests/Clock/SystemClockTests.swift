// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StateMachines

@Suite("System clock", .timeLimit(.minutes(5)))
struct SystemClockTests {
  // The runtime keeps what a cancelled sleep takes until the time it was to end at, so a long sleep
  // is cut into pieces. Cut wrongly, it would end with the first of them.
  @Test("sleeps until its deadline, in however many pieces", arguments: [1, 7, 30, 1000])
  func pieces(milliseconds: Int) async throws {
    let clock = SystemClock(longestSleep: .milliseconds(milliseconds))
    let deadline = clock.now.advanced(by: .milliseconds(30))
    try await clock.sleep(until: deadline, tolerance: nil)
    #expect(clock.now >= deadline)
  }

  @Test("comes back at once from a deadline that is over")
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

  @Test("knows how long it has run, and the date")
  func times() {
    let clock = SystemClock()
    let before = clock.uptime
    #expect(before >= .zero && clock.uptime >= before)
    #expect(clock.sinceEpoch > .seconds(1_700_000_000))
  }
}
