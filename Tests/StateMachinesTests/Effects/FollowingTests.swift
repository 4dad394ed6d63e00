// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@testable import StateMachines

/// A countdown whose transitions after actions start and stop work.
private struct Countdown: StateMachine {
  enum Input: Codable, Sendable {
    case start(from: Int)
    case jump(Int)
    case loop, back, save, quickly
  }
  enum Action: Equatable, Sendable {
    case set(Int)
    case ticked, ended
    case loaded(String)
    case looped
    case saved(Int)
  }
  struct State: Codable, Sendable {
    var left = 0
    var log: [String] = []
  }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .start(let seconds):
      .several(.action(.set(seconds)), .ticks("ticks", every: .seconds(1)) { .ticked })
    case .jump(let left): .action(.set(left))
    case .loop: .action(.looped)
    case .back: .several(.action(.set(state.left + 1)), .action(.set(-1)))
    case .save: withState { save($0) }.debounced("save", for: .seconds(2))
    case .quickly: .several(.action(.loaded("B")), .action(.loaded("C")))
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .set(let left): state.left = left < 0 ? 0 : left
    case .ticked: state.left -= 1
    case .ended: state.log.append("ended")
    case .loaded(let name): state.log.append(name)
    case .looped: break
    case .saved(let left): state.log.append("saved \(left)")
    }
  }

  func effect(after action: Action, in state: State) -> Effect<Action> {
    switch action {
    case .ticked where state.left == 0: .several(.cancel("ticks"), .action(.ended))
    case .loaded("A"):
      .run("loadB") { context in
        try? await context.sleep(for: .seconds(1))
        await context.send(.loaded("B"))
      }
    case .loaded("C"): .action(.loaded("\(state.log.count)"))
    case .set(7): .action(.set(3))
    case .set(100): .action(.loaded("A"))
    case .looped: .action(.looped)
    default: .none
    }
  }

  private func save(_ state: State) -> Effect<Action> {
    .run("save") { await $0.send(.saved(state.left)) }
  }
}

@Suite("Effects after actions")
struct FollowingTests {
  @Test("an action of a feed can end the feed, and its effect belongs to no input")
  func feed() async throws {
    let bench = try await Bench(Countdown())
    try await bench.send(.start(from: 2), noting: "start")
    #expect(bench.notes.all == ["start settled at 1"])
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(revision: 2)
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(revision: 4)
    #expect(await bench.do { $1.state.log } == ["ended"])
    #expect(await bench.do { $1.isIdle })
    #expect(await bench.do { $1.effectsWithoutInput.isEmpty })
  }

  @Test("an effect after an action belongs to the input of the action, which settles after it")
  func settling() async throws {
    let bench = try await Bench(Countdown())
    let result = try #require(try await bench.send(.jump(100), noting: "jump"))
    #expect(!result.isSettled && result.changed)
    #expect(await bench.do { $1.state.log } == ["A"])
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(notes: 1)
    #expect(await bench.do { $1.state.log } == ["A", "B"])
    #expect(bench.notes.all == ["jump settled at 3"])
  }

  @Test("cancelling an input cancels the effects after its actions")
  func cancelling() async throws {
    let bench = try await Bench(Countdown())
    let result = try #require(try await bench.send(.jump(100), noting: "jump"))
    await bench.do { $1.cancel(result.inputID) }
    await bench.reaches(notes: 1)
    #expect(await bench.do { $1.state.log } == ["A"])
    #expect(await bench.do { $1.isIdle })
  }

  @Test("effects follow after the immediate actions, made from the state after their own action")
  func order() async throws {
    let bench = try await Bench(Countdown())
    let result = try #require(try await bench.send(.quickly))
    #expect(result.isSettled)
    #expect(await bench.do { $1.state.log } == ["B", "C", "2"])
  }

  @Test("an input whose effects after actions restore the state has changed nothing")
  func changedBack() async throws {
    let bench = try await Bench(Countdown())
    try await bench.send(.jump(3))
    let result = try #require(try await bench.send(.jump(7)))
    #expect(result.revision == 3)
    #expect(!result.changed)
    let single = try #require(try await bench.send(.jump(4)))
    #expect(single.changed)
  }

  @Test("an endless chain of immediate actions is an error of the input, and the store continues")
  func endless() async throws {
    let bench = try await Bench(Countdown())
    await #expect {
      try await bench.send(.loop)
    } throws: { error in
      guard case StoreError.unencodable(let error) = error else { return false }
      return error.code == .endless && error.message.contains("Countdown")
    }
    let result = try #require(try await bench.send(.jump(4)))
    #expect(result.changed)
    #expect(await bench.do { $1.state.left } == 4)
  }

  @Test("an effect with the state reads the state at the time at which it is performed")
  func stateAtStart() async throws {
    let bench = try await Bench(Countdown())
    try await bench.send(.jump(1))
    try await bench.send(.save, noting: "save")
    try await bench.send(.jump(2))
    await bench.advance(by: 2, sleepers: 1)
    await bench.reaches(notes: 1)
    #expect(await bench.do { $1.state.log } == ["saved 2"])
  }
}
