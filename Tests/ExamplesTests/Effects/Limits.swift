// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// Work under limits: helpers for the closures of `run`.
struct Downloads: StateMachine {
  enum Input: Codable, Sendable {
    case tapped(name: String)
    case scanTapped
  }
  enum Action: Equatable, Sendable { case ended(name: String, text: String) }
  struct State: Codable, Sendable { var texts: [String: String] = [:] }

  let initialState = State()
  let download: @Sendable (String) async -> String?
  let permits = AsyncSemaphore(2)

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .tapped(let name):
      .run("download") { [permits, download] context in
        let text = await permits.withPermit {
          await context.clock.retry(
            attempts: 2, backoff: .constant(.seconds(1)), when: { $0 == nil }
          ) { _ in
            await context.clock.timeout(after: .seconds(5)) { await download(name) } ?? nil
          }
        }
        await context.send(.ended(name: name, text: (text ?? nil) ?? "failed"))
      }

    case .scanTapped:
      .run("scan") { [download] context in
        await AbandonedTasks.collect { abandoned in
          let text = await context.clock.timeout(after: .seconds(5)) {
            await abandoned.abandonable { await download("scan") ?? "nothing" }
          }
          let result = (text ?? nil) ?? "timed out"
          await context.becomeFeed(sending: .ended(name: "scan", text: result))
        }
      }
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .ended(let name, let text): state.texts[name] = text
    }
  }
}
