// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StatewireClient

@Suite("Delays before the client connects again")
struct BackoffTests {
  /// The bounds of PROTOCOL.md, in milliseconds.
  private static let bounds: [(least: Int, most: Int)] = [
    (0, 100), (200, 400), (400, 800), (800, 1600), (1600, 3200), (3200, 6400), (5000, 10_000),
    (5000, 10_000),
  ]

  @Test("the default delays are those of PROTOCOL.md")
  func defaults() {
    for (failures, bounds) in Self.bounds.enumerated() {
      let range = Duration.milliseconds(bounds.least)...(.milliseconds(bounds.most))
      let delays = (0..<1000).map { _ in Backoff().delay(after: failures) }
      for delay in delays { #expect(range.contains(delay), "\(failures) failures: \(delay)") }
      // Of a thousand random shares, some are in each half.
      let middle = (range.lowerBound + range.upperBound) / 2
      #expect(delays.contains { $0 < middle } && delays.contains { $0 > middle })
    }
  }

  @Test("delays stay finite")
  func long() {
    let backoff = Backoff(base: .milliseconds(10), maximum: .milliseconds(80))
    #expect((.milliseconds(40)...(.milliseconds(80))).contains(backoff.delay(after: 5000)))
  }
}
