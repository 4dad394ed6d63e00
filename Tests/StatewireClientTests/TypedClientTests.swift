// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireClient
import TestSupport
import Testing

/// A client of a server with its own kind, whose types `statewire types` has generated:
/// `GeneratedStopwatch.swift`. `Tests/Scripts/typed-clients` has the same in other languages.
@Suite("A client with generated types", .timeLimit(.minutes(15)))
struct TypedClientTests {
  private static let program = TestedPackage.program("Stopwatch")

  @Test("has the types that the program of the stopwatch generates")
  func isGenerated() throws {
    let result = try ProgramResult(of: Self.program, ["types", "--language", "swift"])
    #expect(result.status == 0, "\(result.errors)")
    let file = TestedPackage.root.appending(
      path: "Tests/StatewireClientTests/GeneratedStopwatch.swift")
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(
      text == "// SPDX-License-Identifier: Apache-2.0\n" + result.output,
      "run .build/debug/Stopwatch types --language swift")
  }

  @Test("drives the stopwatch")
  func runs() async throws {
    try await withClient(.program([Self.program, "serve"])) { client in
      let stopwatch = try await client.open(.stopwatch)
      #expect(try await stopwatch.state == StopwatchState(seconds: 0, isRunning: false))
      try await stopwatch.send(.startTapped)
      let running = try await stopwatch.waitUntil { $0.isRunning && $0.seconds > 0 }
      #expect(running.isRunning)
      try await stopwatch.send(.stopTapped, settle: true)
      try await stopwatch.send(.resetTapped, settle: true)
      #expect(try await stopwatch.state == StopwatchState(seconds: 0, isRunning: false))
    }
  }
}
