// SPDX-License-Identifier: Apache-2.0

import StateMachines

@testable import Persistence

/// Random numbers that are the same each time (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var number = state
    number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
    number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
    return number ^ (number >> 31)
  }
}

/// Ids "1", "2" and so on, from any thread.
final class CountedIDs: Sendable {
  private let last = Lock(0)

  /// The id that comes next.
  var next: String { String(last.withLock { $0 } + 1) }

  @Sendable
  func make() -> String {
    String(
      last.withLock { last in
        last += 1
        return last
      })
  }
}

/// Sentences that a database has said of its failures.
final class Complaints: Sendable {
  private let sentences = Lock([String]())

  var all: [String] { sentences.withLock { $0 } }

  @Sendable
  func add(_ sentence: String) {
    sentences.withLock { $0.append(sentence) }
  }
}

extension EmbeddedDatabase {
  /// A database for a test, with ids "1", "2" and so on unless others are given.
  convenience init(
    _ folder: String, clock: any Clock<Duration> = ContinuousClock(),
    busyTimeout: Duration = .seconds(5), logLength: Int = 1000,
    ids: CountedIDs = CountedIDs(), complaints: Complaints = Complaints()
  ) {
    self.init(
      folder: folder, clock: clock, busyTimeout: busyTimeout, logLength: logLength,
      makeID: ids.make,
      failed: complaints.add)
  }
}
