// SPDX-License-Identifier: Apache-2.0

import StateMachines
import TestSupport
import Testing

@testable import Sessions

@Suite("Awaited replies", .timeLimit(.minutes(15)))
struct AwaitedRepliesTests {
  @Test("each reply finds its request, in any order, and only once")
  func order() async throws {
    try await Shard.make(.counters).run { shard in
      let listener = Listener()
      let subscription = try Session(isolation: shard).attach(
        listener.id(on: shard), to: "counter", isolation: shard)
      var replies = AwaitedReplies()
      func remove(_ number: UInt64) -> String? {
        replies.remove(InputID(rawValue: number)).map {
          #expect($0.subscription === subscription)
          return String(decoding: $0.id, as: UTF8.self)
        }
      }
      for number: UInt64 in [2, 3, 5, 9] {
        Array("\(number)".utf8).withUnsafeBytes {
          replies.add(InputID(rawValue: number), $0, subscription)
        }
      }
      // Notifications, and inputs of other audiences.
      #expect([1, 4, 10].compactMap(remove).isEmpty)
      #expect([5, 2, 9, 3].compactMap(remove) == ["5", "2", "9", "3"])
      #expect([2, 3, 5, 9].compactMap(remove).isEmpty)
    }
  }
}
