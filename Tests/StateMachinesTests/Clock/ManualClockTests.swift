// SPDX-License-Identifier: Apache-2.0

import Dispatch
import TestSupport
import Testing

@testable import StateMachines

@Suite("Manual clock")
struct ManualClockTests {
  @Test("the clock moves only when a test advances it")
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

  @Test("a sleep whose deadline has passed returns without waiting")
  func due() async throws {
    let clock = ManualClock()
    try await clock.sleep(for: .zero)
    try await clock.sleep(until: .init(offset: .seconds(-1)), tolerance: nil)
    clock.advance(to: .init(offset: .seconds(5)))
    try await clock.sleep(until: .init(offset: .seconds(5)), tolerance: nil)
    #expect(clock.sleeperCount == 0)
  }

  @Test("the clock reports the next deadline and wakes exactly the sleepers that are due")
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
      await eventually("four sleepers") { clock.sleeperCount == 4 }
      for (seconds, sleepers) in [(1, 3), (2, 1), (3, 0)] {
        #expect(clock.nextDeadline == .init(offset: .seconds(seconds)))
        clock.advance(to: .init(offset: .seconds(seconds) - .nanoseconds(1)))
        clock.advance(to: .init(offset: .seconds(seconds)))
        #expect(clock.sleeperCount == sleepers)
        await eventually("the due sleepers wake") { awake.count == 4 - sleepers }
      }
    }
    #expect(awake.all == [1, 2, 2, 3])
  }

  @Test("sleepers wake by deadline, and with equal deadlines in the order in which they began")
  func order() async {
    // On one serial executor, tasks run in the order in which they are woken.
    let queue = SerialQueue()
    let clock = ManualClock()
    let deadlines = [5, 3, 5, 1, 3, 1, 4]
    for (number, seconds) in deadlines.enumerated() {
      queue.begin(number, clock, .seconds(seconds))
      await eventually("a sleeper") { clock.sleeperCount == number + 1 }
    }
    await queue.waitUntilAsleep()
    clock.advance(to: .init(offset: .seconds(5)))
    await eventually("all sleepers wake") { queue.awake.count == deadlines.count }
    #expect(queue.awake.all == [3, 5, 1, 4, 6, 0, 2])
  }

  @Test("sleepers with a tolerance wake after the others with their deadline")
  func tolerance() async throws {
    let clock = ManualClock()
    let awake = Record<String>()
    await withTaskGroup { group in
      for (count, (name, tolerance)) in [
        ("tolerant", Duration.nanoseconds(1)), ("first", nil), ("second", .zero),
      ].enumerated() {
        group.addTask {
          try? await clock.sleep(for: .seconds(1), tolerance: tolerance)
          awake.add(name)
        }
        await eventually("a sleeper") { clock.sleeperCount == count + 1 }
      }
      for count in 1...3 {
        #expect(clock.wakeFirst(notAfter: .init(offset: .seconds(1))))
        try? await awake.reaches(count)
      }
    }
    #expect(awake.all == ["first", "second", "tolerant"])
  }

  @Test("`wakeFirst` wakes only the first sleeper and advances the clock to its deadline")
  func first() async {
    let queue = SerialQueue()
    let clock = ManualClock()
    for (number, seconds) in [2, 1, 1, 4].enumerated() {
      queue.begin(number, clock, .seconds(seconds))
      await eventually("a sleeper") { clock.sleeperCount == number + 1 }
    }
    await queue.waitUntilAsleep()
    #expect(!clock.wakeFirst(notAfter: .init(offset: .milliseconds(999))))
    #expect(clock.now.offset == .zero && clock.sleeperCount == 4)

    // Of the sleepers with the same deadline, the one that began first wakes first. The clock stops
    // at the deadline of the sleeper, not at the limit of the call.
    let steps = [([1], 1), ([1, 2], 1), ([1, 2, 0], 2)]
    for (awake, seconds) in steps {
      #expect(clock.wakeFirst(notAfter: .init(offset: .seconds(3))))
      #expect(clock.now.offset == .seconds(seconds))
      #expect(clock.sleeperCount == 4 - awake.count)
      await eventually("one more sleeper wakes") { queue.awake.count == awake.count }
      #expect(queue.awake.all == awake)
    }
    #expect(!clock.wakeFirst(notAfter: .init(offset: .seconds(3))), "the last one is due later")
    #expect(clock.now.offset == .seconds(2))
    #expect(clock.wakeFirst(notAfter: .init(offset: .seconds(4))))
    await eventually("the last sleeper wakes") { queue.awake.all == [1, 2, 0, 3] }
    #expect(!clock.wakeFirst(notAfter: .init(offset: .seconds(9))), "there is no sleeper")
    #expect(clock.now.offset == .seconds(4))
  }

  /// Runs tasks one after another: also the functions of the clock, which belong to no actor.
  private final class SerialQueue: TaskExecutor {
    let awake = Record<Int>()
    private let queue = DispatchQueue(label: "sleepers")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    func begin(_ number: Int, _ clock: ManualClock, _ duration: Duration) {
      Task(executorPreference: self) {
        try? await clock.sleep(for: duration)
        self.awake.add(number)
      }
    }

    /// Returns when every task that has begun is asleep.
    func waitUntilAsleep() async { await Task(executorPreference: self) {}.value }
  }

  @Test("a cancelled sleep throws, before it begins and while it waits")
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
    await eventually("two sleepers") { clock.sleeperCount == 2 }
    during.cancel()
    await #expect(throws: CancellationError.self) { try await during.value }
    #expect(clock.sleeperCount == 1)

    clock.advance(to: .init(offset: .seconds(1)))
    await #expect(throws: Never.self) { try await other.value }
    other.cancel()
    #expect(clock.sleeperCount == 0)
  }

  @Test("every one of a hundred concurrent sleepers returns when it is woken or cancelled")
  func noLostWakeups() async {
    // Cancellation races with the beginning and the end of the sleep. In every order, all tasks
    // must return.
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

  @Test("effects sleep on the manual clock")
  func inEffects() async throws {
    let log = Record<String>()
    let bench = try await Bench(
      ControlledMachine(effects: [
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
    await eventually("the second sleep begins") { bench.clock.sleeperCount == 1 }
    try await bench.send("cancel")
    await eventually("the work ends") { log.count == 3 }
    #expect(log.all == ["ManualClock", "awake", "CancellationError"])
  }
}
