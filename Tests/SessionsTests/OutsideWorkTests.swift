// SPDX-License-Identifier: Apache-2.0

import StateMachines
import Testing

@testable import Sessions

@Suite("Outside work")
struct OutsideWorkTests {
  // A plain closure stored in the generic lock got one more wrapper with each read and write. After
  // some hours, a server under test overflowed its stack.
  @Test("a callback that was read a hundred thousand times is called without extra wrappers")
  func callback() {
    let calls = Lock(0)
    let kept = Lock(Callback())
    kept.withLock { $0.call = { calls.withLock { $0 += 1 } } }
    for _ in 0..<100_000 { _ = kept.withLock { $0.call } }
    kept.withLock { $0.call }?()
    #expect(calls.withLock { $0 } == 1)
  }

  @Test("the callback is called for each end after which no work is running")
  func ends() {
    let work = OutsideWork()
    let ends = Lock(0)
    work.whenEnded { ends.withLock { $0 += 1 } }
    for _ in 0..<1000 { work.begin()() }
    #expect(ends.withLock { $0 } == 1000 && !work.isRunning)
    let (one, other) = (work.begin(), work.begin())
    one()
    #expect(ends.withLock { $0 } == 1000 && work.isRunning)
    other()
    #expect(ends.withLock { $0 } == 1001 && !work.isRunning)
  }
}
