// SPDX-License-Identifier: Apache-2.0

import Foundation
import StateMachinesTesting
import Testing

@testable import Stopwatch

@Suite("README's stopwatch")
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

  @Test("stands in README as it is compiled", arguments: ["Stopwatch.swift", "main.swift"])
  func readme(file: String) throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let source = try String(
      contentsOf: root.appending(path: "Examples/Stopwatch/\(file)"), encoding: .utf8)
    let code = source.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2)
      .joined(separator: "\n").trimmingCharacters(in: .newlines)
    let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    #expect(readme.contains("```swift\n\(code)\n```"))
  }
}
