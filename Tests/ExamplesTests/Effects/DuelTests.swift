// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StateMachinesTesting
import Testing

@Suite("The example of composition")
struct DuelTests {
  @Test("the countdown that ends first wins, and both run by themselves")
  func winner() async throws {
    let store = TestStore(Duel())
    try await store.send(.left(input: .startTapped(seconds: 2))) { $0.left.left = 2 }
    try await store.send(.right(input: .startTapped(seconds: 1))) { $0.right.left = 1 }
    try await store.advance(by: .seconds(1))
    try await store.receive(.left(.ticked)) { $0.left.left = 1 }
    try await store.receive(.right(.ticked)) {
      $0.right.left = 0
      $0.winner = "right"
    }
    try await store.advance(by: .seconds(1))
    try await store.receive(.left(.ticked)) { $0.left.left = 0 }
    try await store.finish()
  }
}
