// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import StateMachines

@testable import Persistence

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
    todoLimits: TodoLimits = TodoLimits(), ids: CountedIDs = CountedIDs(),
    complaints: Complaints = Complaints()
  ) {
    self.init(
      folder: folder, clock: clock, busyTimeout: busyTimeout, logLength: logLength,
      todoLimits: todoLimits, makeID: ids.make,
      failed: complaints.add)
  }
}
