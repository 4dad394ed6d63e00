// SPDX-License-Identifier: Apache-2.0

import StateMachines
import Testing

@testable import Transports

/// One thread for jobs that block.
@Suite("The thread of jobs", .timeLimit(.minutes(5)))
struct JobThreadTests {
  @Test("jobs run in order on one thread, also those that are left when it ends")
  func order() async throws {
    let notes = Lock<[Int]>([])
    await withCheckedContinuation { continuation in
      do {
        let thread = try JobThread()
        for number in 0..<100 { thread.run { notes.withLock { $0.append(number) } } }
        thread.run { continuation.resume() }
      } catch {
        Issue.record(error)
        continuation.resume()
      }
    }
    #expect(notes.withLock { $0 } == Array(0..<100))
  }
}
