// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StatewireServer

@Suite("Worker pool")
struct WorkerPoolTests {
  @Test("the pool runs each job once, on at most as many threads as allowed")
  func jobs() async throws {
    let pool = try WorkerPool(maximumThreads: 3)
    let sum = await withTaskGroup(of: Int.self) { group in
      for number in 1...10_000 {
        group.addTask(executorPreference: pool) {
          await Task.yield()
          return number
        }
      }
      return await group.reduce(0, +)
    }
    #expect(sum == 10_000 * 10_001 / 2)
  }

  @Test("the pool wakes no sleeper early")
  func timers() async throws {
    let pool = try WorkerPool(maximumThreads: 1)
    let areEarly = await withTaskGroup(of: Bool.self) { group in
      for number in (1...20).reversed() {
        group.addTask(executorPreference: pool) {
          let deadline = ContinuousClock.now + .milliseconds(number)
          try? await Task.sleep(until: deadline, clock: .continuous)
          return ContinuousClock.now < deadline
        }
      }
      return await group.contains(true)
    }
    #expect(!areEarly)
  }

  @Test("tasks of the pool can sleep by each clock")
  func clocks() async throws {
    let pool = try WorkerPool(maximumThreads: 1)
    try await Task(executorPreference: pool) {
      try await SuspendingClock().sleep(for: .milliseconds(1))
      try await ContinuousClock().sleep(for: .milliseconds(1))
      try await Task.sleep(nanoseconds: 1000)
    }.value
  }

  @Test(
    "jobs are due in the order of their deadlines, and in order of insertion if these are equal")
  func order() {
    var numbers = SystemRandomNumberGenerator()
    for _ in 0..<100 {
      var (heap, all) = (TimerHeap<Int>(), [(deadline: UInt64, number: Int)]())
      for number in 0..<50 {
        let deadline = UInt64.random(in: 0..<20, using: &numbers)
        heap.insert(number, at: deadline)
        all.append((deadline, number))
      }
      all.sort { $0 < $1 }
      for now in [UInt64(3), 3, 10, 19] {
        #expect(heap.firstDeadline == all.first?.deadline)
        let due = all.prefix { $0.deadline <= now }
        #expect(heap.removeAll(upTo: now) == due.map(\.number))
        all.removeFirst(due.count)
      }
      #expect(heap.firstDeadline == nil)
    }
  }
}
