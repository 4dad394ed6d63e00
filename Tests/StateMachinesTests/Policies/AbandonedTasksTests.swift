// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

@Suite("Abandoned tasks")
struct AbandonedTasksTests {
  @Test("abandonable work that is not abandoned returns its result")
  func usual() async {
    let given = Lock<Int?>(nil)
    await AbandonedTasks.collect { abandonedTasks in
      let outcome = await abandonedTasks.abandonable { 7 }
      given.withLock { $0 = outcome }
      #expect(abandonedTasks.remaining == 0)
    }
    #expect(given.withLock { $0 } == 7)
  }

  @Test("work that ignores its cancellation is abandoned, and awaited at the end")
  func deaf() async {
    let gate = Gate()
    let clock = ManualClock()
    let log = Lock<[String]>([])
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await AbandonedTasks.collect { abandonedTasks in
          let outcome = await clock.timeout(after: .seconds(1)) {
            await abandonedTasks.abandonable {
              await gate.wait()
              log.withLock {
                $0.append("ended, \(Task.isCancelled ? "cancelled" : "not cancelled")")
              }
              return 7
            }
          }
          #expect(outcome == .some(nil) || outcome == nil)
          log.withLock { $0.append("left \(abandonedTasks.remaining)") }
        }
        log.withLock { $0.append("collected") }
      }
      await eventually("the work and its timeout wait") {
        gate.waiting == 1 && clock.sleeperCount == 1
      }
      clock.advance(to: clock.now.advanced(by: .seconds(1)))
      await eventually("the work is abandoned") { !log.withLock { $0.isEmpty } }
      gate.open()
    }
    #expect(log.withLock { $0 } == ["left 1", "ended, cancelled", "collected"])
  }

  @Test("cancelling the caller abandons all of its work", arguments: 0..<20)
  func cancelled(turns: Int) async {
    let gate = Gate()
    let isOver = Lock(false)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await AbandonedTasks.collect { abandonedTasks in
          while !Task.isCancelled { _ = await abandonedTasks.abandonable { await gate.wait() } }
          isOver.withLock { $0 = true }
        }
      }
      for _ in 0..<turns { await Task.yield() }
      group.cancelAll()
      await eventually("the cancelled task ends") { isOver.withLock { $0 } }
      gate.open()
    }
  }
}
