// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

/// A host that records the numbers of the runs that messages name.
private actor Listener: StoreHost {
  private(set) var numbers: [UInt64] = []
  private(set) var batches = 0
  func deliver(_ message: EffectMessage) { deliver([message]) }
  func deliver(_ messages: [EffectMessage]) {
    batches += 1
    numbers += messages.map(\.run.rawValue)
  }
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
    #expect(await listener.batches <= 101)
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
