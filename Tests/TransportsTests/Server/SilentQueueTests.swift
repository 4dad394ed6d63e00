// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Transports

@Suite("Connections that have sent nothing")
struct SilentQueueTests {
  private let start = ContinuousClock.now

  private func instant(_ seconds: Int) -> ContinuousClock.Instant {
    start.advanced(by: .seconds(seconds))
  }

  @Test("the oldest silent connections come first, without those that have sent something or ended")
  func order() {
    var queue = SilentQueue<Int>()
    var times: [Int: ContinuousClock.Instant] = [:]
    for id in 0..<10 {
      times[id] = instant(id)
      queue.append(id, since: instant(id), of: 10) { times[$0] }
    }
    times[0] = nil
    times[2] = nil
    // It has sent something, and nothing since then.
    times[1] = instant(100)
    for id in [3, 4, 5, 6, 7, 8, 9, 1] { #expect(queue.takeOldest { times[$0] } == id) }
    #expect(queue.takeOldest { times[$0] } == nil)
    #expect(queue.count == 0)
  }

  @Test("connections that are passed over keep their places")
  func kept() {
    var queue = SilentQueue<Int>()
    for id in 0..<10 { queue.append(id, since: instant(id), of: 10) { instant($0) } }
    #expect(queue.takeOldest({ instant($0) }, keeping: { $0 < 3 }) == 3)
    #expect(queue.count == 9)
    for id in [0, 1, 2, 4] { #expect(queue.takeOldest { instant($0) } == id) }
    #expect(queue.takeOldest({ instant($0) }, keeping: { _ in true }) == nil)
    #expect(queue.count == 5)
  }

  // Once, every closed connection was preceded by a check of all connections.
  @Test("a search checks few of many connections, and connections that have ended take no space")
  func cost() {
    var queue = SilentQueue<Int>()
    var asked = 0
    for id in 0..<10_000 { queue.append(id, since: start, of: 10_000) { _ in start } }
    func since(_ id: Int) -> ContinuousClock.Instant? {
      asked += 1
      return start
    }
    for id in 0..<16 { #expect(queue.takeOldest(since) == id) }
    #expect(asked == 16)
    asked = 0
    #expect(queue.takeOldest(since, keeping: { _ in true }) == nil)
    #expect(asked < 100)
    for id in 0..<100_000 { queue.append(id, since: start, of: 1) { $0 == 5 ? start : nil } }
    #expect(queue.count < 200)
  }

  // A new connection can have the address, and thus the id, of one that has ended.
  @Test("an id that is added repeatedly takes space once")
  func reused() {
    var queue = SilentQueue<Int>()
    var last = start
    for second in 0..<10_000 {
      last = instant(second)
      queue.append(7, since: last, of: 1) { _ in last }
    }
    #expect(queue.count < 200)
    #expect(queue.takeOldest { _ in last } == 7)
  }
}
