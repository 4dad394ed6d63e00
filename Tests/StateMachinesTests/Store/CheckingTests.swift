// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import Testing

@Suite("Checks of a machine without a store")
struct CheckingTests {
  private struct Gauge: StateMachine {
    enum Input: Codable, Sendable { case tapped }
    enum Action: Sendable { case nothing }
    struct State: Codable, Sendable { var levels: [Double] }
    let initialState: State
    func effect(of input: Input, in state: State) -> Effect<Action> { .none }
    func reduce(_ state: inout State, _ action: Action) {}
  }

  @Test("a view state that cannot be encoded is an error with its path")
  func view() throws {
    try Gauge(initialState: .init(levels: [1, 2])).checkInitialState()
    let error = try #require(throws: JSONError.self) {
      try Gauge(initialState: .init(levels: [1, .infinity])).checkInitialState()
    }
    #expect(error.message.hasPrefix("its initial view state cannot be encoded: "), "\(error)")
    #expect(error.pathDescription == "/levels/1")
  }

  @Test("children that do not fit together are an error")
  func children() throws {
    try Race().checkInitialState()
    let error = try #require(throws: JSONError.self) {
      try Race(extraName: "left").checkInitialState()
    }
    #expect(error.message.contains("two children with the name left"), "\(error)")
  }
}
