// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

@Suite("Manual clock")
struct ManualClockTests {
  @Test("stands still until it is told to go on")
  func still() {
    let clock = ManualClock()
    #expect(clock.now.offset == .zero)
    #expect(clock.minimumResolution == .nanoseconds(1))
    clock.advance(to: clock.now)
    clock.advance(to: clock.now.advanced(by: .milliseconds(1_500)))
    #expect(clock.now.offset == .milliseconds(1_500))
    #expect(clock.now.duration(to: .init(offset: .seconds(2))) == .milliseconds(500))
    #expect(clock.nextDeadline == nil && clock.sleeperCount == 0)
  }

  @Test("does not put to sleep what is due already")
  func due() async throws {
    let clock = ManualClock()
    try await clock.sleep(for: .zero)
    try await clock.sleep(until: .init(offset: .seconds(-1)), tolerance: nil)
    clock.advance(to: .init(offset: .seconds(5)))
    try await clock.sleep(until: .init(offset: .seconds(5)), tolerance: nil)
    #expect(clock.sleeperCount == 0)
  }

  @Test("knows the next deadline, and wakes exactly those that are due")
  func deadlines() async {
    let clock = ManualClock()
    let awake = Record<Int>()
    await withTaskGroup { group in
      for seconds in [3, 1, 2, 2] {
        group.addTask {
          try? await clock.sleep(for: .seconds(seconds))
          awake.add(seconds)
        }
      }
      await eventually("sleepers") { clock.sleeperCount == 4 }
      for (seconds, sleepers) in [(1, 3), (2, 1), (3, 0)] {
        #expect(clock.nextDeadline == .init(offset: .seconds(seconds)))
        clock.advance(to: .init(offset: .seconds(seconds) - .nanoseconds(1)))
        clock.advance(to: .init(offset: .seconds(seconds)))
        #expect(clock.sleeperCount == sleepers)
        await eventually("awake") { awake.count == 4 - sleepers }
      }
    }
    #expect(awake.all == [1, 2, 2, 3])
  }

  @Test("wakes in the order of the deadlines, and of one deadline in the order they came")
  func order() async {
    // On one serial executor the order of waking is the order of running.
    let queue = SerialQueue()
    let clock = ManualClock()
    let deadlines = [5, 3, 5, 1, 3, 1, 4]
    for (number, seconds) in deadlines.enumerated() {
      await queue.begin(number, clock, .seconds(seconds))
      await eventually("a sleeper") { clock.sleeperCount == number + 1 }
    }
    await queue.rest()
    clock.advance(to: .init(offset: .seconds(5)))
    await eventually("all") { queue.awake.count == deadlines.count }
    #expect(queue.awake.all == [3, 5, 1, 4, 6, 0, 2])
  }

  @Test("wakes the first sleeper alone, and is then as late as that one wanted")
  func first() async {
    let queue = SerialQueue()
    let clock = ManualClock()
    for (number, seconds) in [2, 1, 1, 4].enumerated() {
      await queue.begin(number, clock, .seconds(seconds))
      await eventually("a sleeper") { clock.sleeperCount == number + 1 }
    }
    await queue.rest()
    #expect(!clock.wakeFirst(notAfter: .init(offset: .milliseconds(999))))
    #expect(clock.now.offset == .zero && clock.sleeperCount == 4)

    // Of those that are due together, the one that came first; the time is the sleeper's own.
    let steps = [([1], 1), ([1, 2], 1), ([1, 2, 0], 2)]
    for (awake, seconds) in steps {
      #expect(clock.wakeFirst(notAfter: .init(offset: .seconds(3))))
      #expect(clock.now.offset == .seconds(seconds))
      #expect(clock.sleeperCount == 4 - awake.count)
      await eventually("one more") { queue.awake.count == awake.count }
      #expect(queue.awake.all == awake)
    }
    #expect(!clock.wakeFirst(notAfter: .init(offset: .seconds(3))), "the last one is due later")
    #expect(clock.now.offset == .seconds(2))
    #expect(clock.wakeFirst(notAfter: .init(offset: .seconds(4))))
    await eventually("all") { queue.awake.all == [1, 2, 0, 3] }
    #expect(!clock.wakeFirst(notAfter: .init(offset: .seconds(9))), "nobody sleeps")
    #expect(clock.now.offset == .seconds(4))
  }

  private actor SerialQueue {
    nonisolated let awake = Record<Int>()
    func begin(_ number: Int, _ clock: ManualClock, _ duration: Duration) {
      Task {
        try? await sleep(clock, duration)
        awake.add(number)
      }
    }
    private func sleep(_ clock: ManualClock, _ duration: Duration) async throws {
      // Here, and not on whatever thread `sleep(for:)` is compiled for: who sleeps has left the queue.
      try await clock.sleep(until: clock.now.advanced(by: duration), tolerance: nil)
    }
    /// Comes back when all who have begun sleep.
    func rest() {}
  }

  @Test("a sleep that is cancelled throws, before it begins and while it lasts")
  func cancellation() async {
    let clock = ManualClock()
    let before = Task {
      while !Task.isCancelled { await Task.yield() }
      try await clock.sleep(for: .seconds(1))
    }
    before.cancel()
    await #expect(throws: CancellationError.self) { try await before.value }

    let during = Task { try await clock.sleep(for: .seconds(1)) }
    let other = Task { try await clock.sleep(for: .seconds(1)) }
    await eventually("both") { clock.sleeperCount == 2 }
    during.cancel()
    await #expect(throws: CancellationError.self) { try await during.value }
    #expect(clock.sleeperCount == 1)

    clock.advance(to: .init(offset: .seconds(1)))
    await #expect(throws: Never.self) { try await other.value }
    other.cancel()
    #expect(clock.sleeperCount == 0)
  }

  @Test("loses nobody among a hundred sleepers that come, go and are woken all at once")
  func noLostWakeups() async {
    // Cancelling races with falling asleep and with being woken; whoever wins, all come back.
    for round in 0..<20 {
      let clock = ManualClock()
      let back = Record<Bool>()
      await withTaskGroup { group in
        let sleepers = (0..<100).map { number in
          Task {
            do {
              try await clock.sleep(for: .milliseconds(number % 10 + 1))
              back.add(true)
            } catch {
              back.add(false)
            }
          }
        }
        group.addTask { for sleeper in sleepers[..<30] { sleeper.cancel() } }
        group.addTask {
          while back.count < 100 {
            clock.advance(to: clock.now.advanced(by: .milliseconds(1)))
            await Task.yield()
          }
        }
      }
      #expect(back.count == 100, "round \(round)")
      #expect(back.all.count { $0 } >= 70, "round \(round)")
      #expect(clock.sleeperCount == 0, "round \(round)")
    }
  }

  @Test("is what effects sleep on")
  func inEffects() async throws {
    let log = Record<String>()
    let bench = try await Bench(
      Puppet(effects: [
        "go": { _ in
          .run("sleeper") { context in
            log.add("\(type(of: context.clock))")
            do {
              try await context.sleep(for: .seconds(1))
              log.add("awake")
              try await context.sleep(for: .seconds(1))
              log.add("never")
            } catch {
              log.add("\(type(of: error))")
            }
          }.cancellable("x")
        },
        "cancel": { _ in .cancel("x") },
      ]))
    try await bench.send("go")
    await bench.advance(by: 1, sleepers: 1)
    await eventually("the second sleep") { bench.clock.sleeperCount == 1 }
    try await bench.send("cancel")
    await eventually("its end") { log.count == 3 }
    #expect(log.all == ["ManualClock", "awake", "CancellationError"])
  }
}
