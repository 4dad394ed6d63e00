// SPDX-License-Identifier: Apache-2.0

import StateMachines
import Testing

@testable import Sessions

@Suite("Outside work")
struct OutsideWorkTests {
  // A closure that was kept bare behind the generic lock came back wrapped once more from each
  // read, and was put back so; a server under test ran out of stack after some hours.
  @Test("a callback that was read a hundred thousand times is called as it was")
  func callback() {
    let calls = Lock(0)
    let kept = Lock(Callback())
    kept.withLock { $0.call = { calls.withLock { $0 += 1 } } }
    for _ in 0..<100_000 { _ = kept.withLock { $0.call } }
    kept.withLock { $0.call }?()
    #expect(calls.withLock { $0 } == 1)
  }

  @Test("the end of each piece is told, once nothing goes on any more")
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
