// SPDX-License-Identifier: Apache-2.0

import Foundation
import StateMachines
import StateMachinesTesting
import StatewireJSON
import TestSupport
import Testing

@Suite("Counter example")
struct CounterTests {
  @Test("the example is identical to the one in the documentation")
  func verbatim() throws {
    let here = URL(filePath: #filePath)
    let example = try String(
      contentsOf: here.deletingLastPathComponent().appending(path: "Counter.swift"),
      encoding: .utf8)
    let root = here.pathComponents.dropLast(4).joined(separator: "/")
    let source = try String(
      contentsOf: URL(filePath: "\(root)/Sources/StateMachines/StateMachine.swift"),
      encoding: .utf8)
    let shown = source.split(separator: "\n")
      .drop { $0 != "/// ```swift" }.dropFirst().prefix { $0 != "/// ```" }
      .map { $0.dropFirst(4) }.joined(separator: "\n")
    let compiled = example.split(separator: "\n").drop { !$0.hasPrefix("struct") }
      .joined(separator: "\n")
    #expect(shown.split(separator: "\n").filter { !$0.isEmpty }.joined(separator: "\n") == compiled)
  }

  @Test("the counter publishes its changes as patches")
  func store() async throws {
    let bench = try await Bench(Counter())
    for text in ["incrementTapped", "incrementTapped", "resetTapped", "resetTapped"] {
      let input = try JSON.decode(
        Counter.Input.self, from: Array(#"{"type":"\#(text)"}"#.utf8))
      try await bench.send(input)
    }
    #expect(
      bench.published == [
        #"0 {"count":0}"#,
        #"0 1 [{"op":"replace","path":"/count","value":1}]"#,
        #"1 2 [{"op":"replace","path":"/count","value":2}]"#,
        #"2 3 [{"op":"replace","path":"/count","value":0}]"#,
      ])
  }

  @Test("the counter is tested step by step with a test store")
  func testStore() async throws {
    let store = TestStore(Counter())
    try await store.send(.incrementTapped) { $0.count = 1 }
    try await store.send(.resetTapped) { $0.count = 0 }
    try await store.send(.resetTapped)
    try await store.finish()
  }
}
