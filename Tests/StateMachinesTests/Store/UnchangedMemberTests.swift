// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import StateMachines

/// A part of a state that counts how often it is encoded.
private struct Part: Encodable, Sendable {
  static let count = Atomic(0)
  var title = "a title of more than fifteen bytes"
  var number = 0

  func encode(to encoder: any Encoder) throws {
    Self.count.add(1, ordering: .relaxed)
    var container = encoder.singleValueContainer()
    try container.encode([title, String(number)])
  }
}

/// A machine without children whose inputs change one part of many.
private struct Parts: StateMachine {
  enum Input: Codable, Sendable { case first, last }
  struct State: Encodable, Sendable {
    var first = Part()
    var second = Part()
    var third = Part()
    var last = Part()
  }
  let initialState = State()
  func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }
  func reduce(_ state: inout State, _ action: Input) {
    switch action {
    case .first: state.first.number += 1
    case .last: state.last.number += 1
    }
  }
}

@Suite("Unchanged members")
struct UnchangedMemberTests {
  @Test("an unchanged member of a state is not encoded again")
  func members() async throws {
    let bench = try await Bench(Parts())
    try await bench.send(.first)
    let before = Part.count.load(ordering: .relaxed)
    for _ in 0..<10 {
      try await bench.send(.first)
      try await bench.send(.last)
    }
    #expect(Part.count.load(ordering: .relaxed) - before == 20)
    #expect(
      bench.published.suffix(2).map { String($0.drop { $0 != "[" }) } == [
        #"[{"op":"replace","path":"/first/1","value":"11"}]"#,
        #"[{"op":"replace","path":"/last/1","value":"10"}]"#,
      ])
  }
}
