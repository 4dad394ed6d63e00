// SPDX-License-Identifier: Apache-2.0

import Sessions
import TestSupport
import Testing

/// A condition that reads what belongs to a shard is checked on the shard.
@Suite("eventually")
struct EventuallyTests {
  @Test("checks its condition where its caller runs")
  func isolation() async {
    // Found by the thread sanitizer: after the first check the condition ran on a global queue, while
    // the shard wrote what it read.
    let executor = QueueExecutor()
    await Shard(executor: executor, kinds: []).run { _ in
      var (checks, checksThere) = (0, 0)
      await eventually("the third check") {
        checks += 1
        if executor.isCurrent { checksThere += 1 }
        return checks == 3
      }
      #expect(checksThere == 3)
    }
  }
}
