// SPDX-License-Identifier: Apache-2.0

import StateMachines
import Testing

@testable import Transports

/// A thread for jobs that block.
@Suite("Job thread", .timeLimit(.minutes(15)))
struct JobThreadTests {
  @Test("the thread runs all jobs in order, also those that remain when it is released")
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
