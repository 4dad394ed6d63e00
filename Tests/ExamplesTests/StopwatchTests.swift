// SPDX-License-Identifier: Apache-2.0

import StateMachinesTesting
import Testing

@testable import Stopwatch

@Suite("The stopwatch example")
struct StopwatchTests {
  @Test("counts seconds while it runs")
  func counts() async throws {
    let store = TestStore(Stopwatch())
    try await store.send(.startTapped) { $0.isRunning = true }
    try await store.advance(by: .seconds(2))
    try await store.receive { $0.seconds = 1 }
    try await store.receive { $0.seconds = 2 }
    try await store.send(.stopTapped) { $0.isRunning = false }
    try await store.send(.resetTapped) { $0.seconds = 0 }
    try await store.finish()
  }

  @Test("runs one clock, however often it is started")
  func startsOnce() async throws {
    let store = TestStore(Stopwatch())
    try await store.send(.startTapped) { $0.isRunning = true }
    try await store.send(.startTapped)
    try await store.advance(by: .seconds(1))
    try await store.receive { $0.seconds = 1 }
    try await store.send(.stopTapped) { $0.isRunning = false }
    try await store.finish()
  }

  @Test("is tested as the documents show")
  func example() async throws {
    let store = TestStore(Stopwatch())
    try await store.send(.startTapped) { $0.isRunning = true }
    try await store.advance(by: .seconds(1))
    try await store.receive { $0.seconds = 1 }
    await store.cancelAll()
  }
}
