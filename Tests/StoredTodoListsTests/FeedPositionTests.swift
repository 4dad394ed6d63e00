// SPDX-License-Identifier: Apache-2.0

import StateMachines
import Testing

@testable import StoredTodoLists

@Suite("Feed position")
struct FeedPositionTests {
  @Test("a wait returns immediately if there is no feed")
  func noFeed() async {
    let position = FeedPosition()
    await position.wait(for: 1)
    let feed = position.started()
    position.end(feed)
    await position.wait(for: 1)
  }

  @Test("a wait returns immediately for a version that the feed has reached")
  func reached() async {
    let position = FeedPosition()
    let feed = position.started()
    position.reached(3, by: feed)
    await position.wait(for: 2)
    await position.wait(for: 3)
  }

  @Test(
    "a wait returns at its version, at the end of the feed, or when it is cancelled",
    arguments: 1...50)
  func release(round: Int) async {
    let position = FeedPosition()
    let feed = position.started()
    await withTaskGroup { group in
      for version in 1...10 { group.addTask { await position.wait(for: ListVersion(version)) } }
      if round.isMultiple(of: 2) { await Task.yield() }
      switch round % 3 {
      case 0: position.reached(10, by: feed)
      case 1: position.end(feed)
      default: group.cancelAll()
      }
      await group.waitForAll()
    }
  }

  @Test("after a newer feed has started, the older feed has no effect")
  func newerFeed() async {
    let position = FeedPosition()
    let older = position.started()
    let newer = position.started()
    let done = Lock(false)
    await withTaskGroup { group in
      group.addTask {
        await position.wait(for: 1)
        #expect(done.withLock { $0 })
      }
      position.reached(1, by: older)
      position.end(older)
      for _ in 1...10 { await Task.yield() }
      done.withLock { $0 = true }
      position.reached(1, by: newer)
      await group.waitForAll()
    }
  }
}

extension FeedPosition {
  fileprivate func started() -> Int {
    let number = issue()
    begin(number)
    return number
  }
}
