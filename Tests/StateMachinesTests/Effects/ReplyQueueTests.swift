// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

/// A host that records the numbers of the runs that messages name.
private actor Listener: StoreHost {
  private(set) var numbers: [UInt64] = []
  func deliver(_ message: EffectMessage) { deliver([message]) }
  func deliver(_ messages: [EffectMessage]) {
    numbers += messages.map(\.run.rawValue)
  }
}

/// An executor whose closures are called when a test demands it, on the thread of the test. Jobs of
/// tasks run immediately.
private final class ManualExecutor: ClosureExecutor {
  private let closures = Lock([@Sendable () -> Void]())
  var waiting: Int { closures.withLock { $0.count } }
  func enqueue(_ body: @escaping @Sendable () -> Void) { closures.withLock { $0.append(body) } }
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedSerialExecutor())
  }
  func checkIsolated() {}
  func callOne() { closures.withLock { $0.removeFirst() }() }
}

/// A host that records the messages of each delivery.
private actor Slow: StoreHost {
  nonisolated let executor = ManualExecutor()
  private(set) var batches: [[UInt64]] = []
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  nonisolated var closureExecutor: (any ClosureExecutor)? { executor }
  func deliver(_ message: EffectMessage) { deliver([message]) }
  func deliver(_ messages: [EffectMessage]) { batches.append(messages.map(\.run.rawValue)) }
}

private func message(_ number: Int) -> EffectMessage {
  EffectMessage(store: StoreNumber(1), run: RunNumber(rawValue: UInt64(number)), news: .ended)
}

@Suite("Reply queues")
struct ReplyQueueTests {
  @Test("messages are delivered in the order in which they were added, and callbacks after them")
  func order() async {
    let listener = Listener()
    let queue = ReplyQueue(host: listener)
    for first in stride(from: 0, to: 990, by: 10) {
      queue.add((first..<first + 10).map(message))
    }
    await withCheckedContinuation { continuation in
      queue.add((990..<1_000).map(message)) { continuation.resume() }
    }
    #expect(await listener.numbers == Array(0..<1_000))
    // The queue is empty now: the next message begins another delivery.
    await withCheckedContinuation { continuation in
      queue.add([message(1_000)]) { continuation.resume() }
    }
    #expect(await listener.numbers.count == 1_001)
  }

  @Test("many messages are delivered in several turns of the host, and each callback in its place")
  func many() async {
    let slow = Slow()
    let queue = ReplyQueue(host: slow)
    let called = Lock([Int]())
    for part in 0..<10 {
      queue.add((0..<100).map { message(100 * part + $0) }) { called.withLock { $0.append(part) } }
    }
    var expected: [[Int]] = []
    while slow.executor.waiting > 0 {
      #expect(slow.executor.waiting == 1)
      slow.executor.callOne()
      let delivered = await slow.batches.joined().count
      expected.append(Array(0..<delivered / 100))
      #expect(called.withLock { $0 } == expected.last)
    }
    #expect(await Array(slow.batches.joined()) == Array(0..<1_000))
    #expect(expected.count > 3)
  }

  @Test("messages that are added while a delivery is due are delivered together")
  func together() async {
    let slow = Slow()
    let queue = ReplyQueue(host: slow)
    for number in 0..<100 { queue.add([message(number)]) }
    #expect(slow.executor.waiting == 1)
    let delivered = Lock(false)
    queue.add([]) { delivered.withLock { $0 = true } }
    slow.executor.callOne()
    #expect(await slow.batches == [Array(0..<100)])
    #expect(delivered.withLock { $0 } && slow.executor.waiting == 0)
    // Messages that a callback adds wait for another call of the host.
    queue.add([message(100)]) { queue.add([message(101)]) }
    slow.executor.callOne()
    #expect(await slow.batches.count == 2 && slow.executor.waiting == 1)
    slow.executor.callOne()
    #expect(await slow.batches.suffix(2) == [[100], [101]] && slow.executor.waiting == 0)
  }

  @Test("messages from several threads are all delivered, those of each in their order")
  func threads() async {
    let listener = Listener()
    let queue = ReplyQueue(host: listener)
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask { for number in 0..<500 { queue.add([message(thread * 500 + number)]) } }
      }
    }
    await withCheckedContinuation { continuation in queue.add([]) { continuation.resume() } }
    let numbers = await listener.numbers
    #expect(numbers.count == 2_000)
    for thread in 0..<4 {
      let range = UInt64(thread * 500)..<UInt64(thread * 500 + 500)
      #expect(numbers.filter(range.contains) == Array(range))
    }
  }

  @Test("a callback is called even if the host has gone")
  func noHost() async {
    let queue = ReplyQueue(host: Listener())
    for _ in 0..<2 {
      await withCheckedContinuation { continuation in
        queue.add([message(1)]) { continuation.resume() }
      }
    }
  }
}
