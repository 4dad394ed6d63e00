// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Transports

@Suite("Waiting until the loop has read its sockets")
struct YieldQueueTests {
  @Test("the end of the waits comes after those that wait, and before later ones")
  func whenServed() {
    let queue = YieldQueue(-1)
    var calls: [Int] = []
    queue.wait {
      calls.append(1)
      queue.wait {
        calls.append(4)
        return .zero
      }
      return .zero
    }
    queue.wait {
      calls.append(2)
      return .zero
    }
    queue.whenServed { calls.append(3) }
    while !queue.isEmpty { queue.resume() }
    #expect(calls == [1, 2, 3, 4])
  }
}
