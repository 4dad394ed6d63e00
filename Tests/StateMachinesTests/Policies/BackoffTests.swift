// SPDX-License-Identifier: Apache-2.0

import StateMachines
import Testing

@Suite("Backoff")
struct BackoffTests {
  @Test("the default backoff doubles from 1 second and is at most 30 seconds")
  func usual() {
    let backoff = Backoff.exponential()
    #expect(
      (1...8).map { backoff.delay(before: $0) } == [0, 1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
    #expect(backoff.delay(before: .max) == .seconds(30))
    #expect(backoff.delay(before: 0) == .zero)
    #expect(backoff.delay(before: .min) == .zero)
  }

  @Test(
    "a delay is exact to nanoseconds and never exceeds its limit, for all numbers",
    arguments: [
      (Backoff.exponential(base: .milliseconds(100), factor: 3), 3, Duration.milliseconds(300)),
      (.exponential(base: .nanoseconds(1), factor: 10), 11, .seconds(1)),
      (.exponential(base: .milliseconds(300), factor: 1.5), 4, .milliseconds(675)),
      (.exponential(base: .seconds(50)), 2, .seconds(30)),
      (.exponential(base: .zero), 9, .zero),
      (.exponential(factor: 0), 2, .seconds(1)),
      (.exponential(factor: 0), 3, .zero),
      (.exponential(factor: 0.5), 4, .milliseconds(250)),
      (.exponential(factor: .greatestFiniteMagnitude), 100, .seconds(30)),
      (.exponential(maximum: .zero), 2, .zero),
      (.constant(.seconds(3)), 1_000_000_000, .seconds(3)),
    ])
  func delays(backoff: Backoff, attempt: Int, delay: Duration) {
    #expect(backoff.delay(before: attempt) == delay)
  }
}
