// SPDX-License-Identifier: Apache-2.0

import Sessions
import StateMachines
import StatewireJSON
import Testing

@testable import ServerCore

/// A lap that refuses an empty name, immediately or by its work, and knows who watches it.
private struct Lap: PresenceAwareMachine {
  enum Input: Codable, Sendable {
    case named(name: String)
    case checked(name: String)
    case watched(count: Int)
  }
  struct State: Codable, Sendable { var name = "", watchers = 0 }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Input> {
    switch input {
    case .named, .watched: .action(input)
    case .checked:
      .run("check") { context in
        await context.refuse(
          InputRefusal(.value, "the name is taken", member: "name"), otherwise: .named(name: "?"))
      }
    }
  }
  func reduce(_ state: inout State, _ action: Input) {
    switch action {
    case .named(let name), .checked(let name): state.name = name
    case .watched(let count): state.watchers = count
    }
  }
  func refusal(of input: Input) -> InputRefusal? {
    if case .named("") = input {
      InputRefusal(.value, "a name is not empty", member: "name")
    } else {
      nil
    }
  }
  func input(for viewers: [Viewer]) -> Input? { .watched(count: viewers.count) }
}

/// A race with a lap.
private struct Race: StateMachine {
  enum Input: Codable, Sendable { case left(input: Lap.Input) }
  struct State: Codable, Sendable { var left = Lap.State() }

  let initialState = State()

  var children: [Child<Race>] {
    Child(
      "left", Lap(), state: \.left,
      input: CasePath(Input.left) { if case .left(let input) = $0 { input } else { nil } },
      action: CasePath({ $0 }, { $0 }))
  }
  func effect(of input: Input, in state: State) -> Effect<Lap.Input> { .none }
  func reduce(_ state: inout State, _ action: Lap.Input) {}
}

@Suite("Stores with children", .timeLimit(.minutes(15)))
struct ComposedStoreTests {
  private let client = TestClient(World(kinds: [StoreKind("race") { Race() }]))

  private func error(_ input: String, settle: Bool = false) async throws -> JSONValue? {
    client.send(send("1", #"{"type":"left","input":\#(input)}"#, to: "race", settle: settle))
    let message = try #require(try await client.messages(1).first)
    return try JSONValue(parsing: message)["error"]
  }

  @Test("the path of a refusal leads to the member that the client has sent")
  func paths() async throws {
    let error = try await error(#"{"type":"named","name":""}"#)
    #expect(error?["code"] == -32602)
    #expect(error?["data"]?["path"] == "/input/input/name")
  }

  @Test("so does the path of a refusal by the work of the child")
  func latePaths() async throws {
    let error = try await error(#"{"type":"checked","name":"a"}"#, settle: true)
    #expect(error?["code"] == -32602)
    #expect(error?["data"]?["path"] == "/input/input/name")
  }

  @Test("a client cannot say who watches the store")
  func presence() async throws {
    let error = try await error(#"{"type":"watched","count":7}"#)
    #expect(error?["code"] == -32602)
    #expect(
      error?["message"]?.string?.contains("only the server sends the input") == true,
      "\(error as Any)")
  }
}
