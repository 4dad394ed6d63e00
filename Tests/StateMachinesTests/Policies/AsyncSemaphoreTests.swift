// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

@Suite("Async semaphore")
struct AsyncSemaphoreTests {

  @Test("permits are given to tasks in the order in which they began to wait")
  func order() async {
    let permits = AsyncSemaphore(2)
    let log = Record<String>()
    let gates = (0..<6).map { _ in Gate() }
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<6 {
        group.addTask {
          await permits.withPermit {
            log.add("\(number)")
            await gates[number].wait()
          }
        }
        await eventually("a task has a permit or waits for one") {
          log.all.count + permits.waiting == number + 1
        }
      }
      #expect(log.all.count == 2)
      #expect(permits.waiting == 4)
      for (number, begun) in [(1, 3), (0, 4), (2, 5), (4, 6), (3, 6), (5, 6)] {
        gates[number].open()
        await eventually("a task has a permit or waits for one") { log.all.count == begun }
      }
    }
    #expect(log.all == ["0", "1", "2", "3", "4", "5"])
    #expect(permits.waiting == 0)
  }

  @Test("a task that needs several permits waits for them, and later tasks do not pass it")
  func several() async {
    let permits = AsyncSemaphore(3)
    let log = Record<String>()
    let gates = (0..<3).map { _ in Gate() }
    await withTaskGroup(of: Void.self) { group in
      for (number, count) in [2, 3, 1].enumerated() {
        group.addTask {
          await permits.withPermits(count) {
            log.add("\(number)")
            await gates[number].wait()
          }
        }
        await eventually("a task has a permit or waits for one") {
          log.all.count + permits.waiting == number + 1
        }
      }
      #expect(log.all == ["0"])
      gates[0].open()
      await eventually("a task has a permit or waits for one") { log.all.count == 2 }
      #expect(log.all == ["0", "1"] && permits.waiting == 1)
      gates[1].open()
      await eventually("a task has a permit or waits for one") { log.all.count == 3 }
      gates[2].open()
    }
    await withTaskGroup(of: Void.self) { group in
      await permits.withPermits(2) {
        let large = group.addTaskUnlessCancelled { await permits.withPermits(3) {} ?? () }
        #expect(large)
        await eventually("a task has a permit or waits for one") { permits.waiting == 1 }
        group.addTask { await permits.withPermit { log.add("small") } ?? () }
        await eventually("a task has a permit or waits for one") { permits.waiting == 2 }
        group.cancelAll()
        await eventually("a task has a permit or waits for one") { permits.waiting == 0 }
      }
    }
    #expect(await permits.withPermits(3) { true } == true)
  }

  @Test("a cancelled task leaves the queue and gets no permit")
  func cancelled() async {
    let permits = AsyncSemaphore(1)
    let gate = Gate()
    let log = Record<String>()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await permits.withPermit { await gate.wait() } }
      await eventually("a task has a permit or waits for one") { gate.waiting == 1 }
      await withTaskGroup(of: Void.self) { waiters in
        for _ in 0..<100 {
          waiters.addTask { log.add(await permits.withPermit { "permit" } ?? "none") }
        }
        await eventually("a task has a permit or waits for one") { permits.waiting == 100 }
        waiters.cancelAll()
      }
      #expect(permits.waiting == 0)
      #expect(log.all == Array(repeating: "none", count: 100))
      // A task that is cancelled before it waits does not enter the queue.
      await withTaskGroup(of: Void.self) { waiters in
        waiters.cancelAll()
        waiters.addTask { log.add(await permits.withPermit { "permit" } ?? "never") }
      }
      #expect(log.all.last == "never")
      group.addTask { log.add(await permits.withPermit { "permit" } ?? "none") }
      await eventually("a task has a permit or waits for one") { permits.waiting == 1 }
      gate.open()
    }
    #expect(log.all.last == "permit")
    #expect(await permits.withPermit { true } == true)
  }

  @Test("a task that is cancelled while it holds a permit returns it")
  func givenBack() async {
    let permits = AsyncSemaphore(1)
    let clock = ManualClock()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await permits.withPermit { try? await clock.sleep(for: .seconds(1)) } }
      await eventually("a task has a permit or waits for one") { clock.sleeperCount == 1 }
      group.cancelAll()
    }
    #expect(await permits.withPermit { true } == true)
  }

  /// Regression: a task that had its number but did not wait yet could be passed over. Another task
  /// then used its turn, and the first one waited forever.
  @Test(
    "every waiting task gets a permit, and never more tasks than the limit hold one",
    arguments: 1...4)
  func threads(limit: Int) async {
    let permits = AsyncSemaphore(limit)
    let holding = Lock((now: 0, most: 0, ever: 0))
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<500 {
        group.addTask {
          await permits.withPermit {
            holding.withLock { holding in
              holding.now += 1
              holding.ever += 1
              holding.most = max(holding.most, holding.now)
            }
            for _ in 0..<number % 5 { await Task.yield() }
            holding.withLock { $0.now -= 1 }
          }
        }
      }
    }
    #expect(holding.withLock { $0.most } <= limit)
    #expect(holding.withLock { $0.ever } == 500)
    #expect(permits.waiting == 0)
  }
}
