// SPDX-License-Identifier: Apache-2.0

import StateMachines

// The machine that docs/testing.md tests.

/// A service that keeps drafts.
protocol DraftService: Sendable {
  func save(_ text: String) async throws
  func publish(_ text: String) async throws -> Bool
}

/// A text that is saved one second after the last change.
struct Draft: StateMachine {
  enum Input: Codable, Sendable {
    case typed(text: String)
    case publishTapped
  }

  enum Action: Equatable, Sendable {
    case typed(String)
    case saved, saveFailed, publishing, published, publishFailed
  }

  enum Event: Codable, Equatable, Sendable { case published }

  struct State: Codable, Equatable, Sendable {
    var text = ""
    var status = "new"
  }

  let initialState = State()
  let service: any DraftService

  func refusal(of input: Input, in state: State) -> InputRefusal? {
    switch input {
    case .typed(let text) where text.isEmpty:
      InputRefusal(.value, "a draft must not be empty", member: "text")
    case .typed(let text) where text.utf8.count > 100:
      InputRefusal(.limit("draftBytes"), "a draft has at most 100 bytes", member: "text")
    default: nil
    }
  }

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .typed(let text):
      .several(.action(.typed(text)), save(text).debounced("save", for: .seconds(1)))
    case .publishTapped:
      .several(.action(.publishing), publish(state.text))
    }
  }

  private func save(_ text: String) -> Effect<Action> {
    .run("save", failing: .saveFailed) { [service] context in
      try await service.save(text)
      await context.send(.saved)
    }
    .retried(attempts: 3)
  }

  private func publish(_ text: String) -> Effect<Action> {
    .run("publish", failing: .publishFailed) { [service] context in
      if try await service.publish(text) {
        await context.send(.published)
      } else {
        await context.refuse(
          InputRefusal(.value, "a text like this is published"), otherwise: .publishFailed)
      }
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .typed(let text): (state.text, state.status) = (text, "changed")
    default: state.status = "\(action)"
    }
  }

  func event(of action: Action, in state: State) -> Event? {
    action == .published ? .published : nil
  }
}

extension Draft: DurableMachine {
  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    switch input {
    case .typed: save(state.text)
    case .publishTapped: .action(.publishFailed)
    }
  }

  func interruption(in state: State) -> Action? {
    state.status == "publishing" ? .publishFailed : nil
  }
}
