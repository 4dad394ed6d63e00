// SPDX-License-Identifier: Apache-2.0

import StateMachinesTesting
import Testing

@testable import CounterServer

@Test("each tap adds one")
func taps() async throws {
  let store = TestStore(CounterStore())
  try await store.send(.incrementTapped) { $0.count = 1 }
  try await store.send(.incrementTapped) { $0.count = 2 }
  try await store.finish()
}

@Test("the store counts each second until it is stopped")
func counting() async throws {
  let store = TestStore(CounterStore())
  try await store.send(.startTapped) { $0.isRunning = true }
  try await store.advance(by: .seconds(1))
  try await store.receive { $0.count = 1 }
  try await store.send(.stopTapped) { $0.isRunning = false }
  try await store.advance(by: .seconds(5))
  try await store.finish()
}
