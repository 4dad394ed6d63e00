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

  @Test("is tested as README shows")
  func example() async throws {
    let store = TestStore(Stopwatch())
    try await store.send(.startTapped) { $0.isRunning = true }
    try await store.advance(by: .seconds(1))
    try await store.receive { $0.seconds = 1 }
    await store.cancelAll()
  }

  @Test(
    "stands in README as it is compiled", arguments: ["Stopwatch.swift", "StopwatchServer.swift"])
  func readme(file: String) throws {
    let code = try Self.text("Examples/Stopwatch/\(file)").split(
      separator: "\n", omittingEmptySubsequences: false
    ).dropFirst(2).joined(separator: "\n").trimmingCharacters(in: .newlines)
    #expect(try Self.blocks().contains(code))
  }

  @Test("README shows nothing in Swift that is not compiled here")
  func allOfReadme() throws {
    let blocks = try Self.blocks()
    #expect(blocks.count == 4)
    let own = try String(contentsOfFile: #filePath, encoding: .utf8)
      .replacing("\n    ", with: "\n")
    let sources = [
      try Self.text("Examples/Stopwatch/Stopwatch.swift"),
      try Self.text("Examples/Stopwatch/StopwatchServer.swift"), own,
      try Self.text("clients/swift/Sources/ShoppingList/ShoppingList.swift"),
    ]
    for block in blocks {
      #expect(sources.contains { $0.contains("\n\(block)\n") }, "\(block)")
    }
  }

  /// What README shows in Swift.
  private static func blocks() throws -> [String] {
    try text("README.md").components(separatedBy: "```swift\n").dropFirst()
      .map { String($0.prefix(upTo: $0.range(of: "\n```")?.lowerBound ?? $0.endIndex)) }
  }

  private static func text(_ path: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }
}
