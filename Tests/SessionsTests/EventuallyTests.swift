// SPDX-License-Identifier: Apache-2.0

import Sessions
import TestSupport
import Testing

/// `eventually` on a shard: a condition that reads a shard's values runs on the shard.
@Suite("eventually")
struct EventuallyTests {
  @Test("eventually checks its condition in the isolation of its caller")
  func isolation() async {
    // The thread sanitizer found this: after the first check the condition ran on a global queue,
    // while the shard wrote the values that it read.
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
