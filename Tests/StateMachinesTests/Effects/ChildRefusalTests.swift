// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing
import VersionedList

@testable import StateMachines

/// A title that refuses to be empty, immediately or by its work.
private struct Title: StateMachine {
  enum Input: Codable, Sendable {
    case renamed(title: String)
    case checked(title: String)
  }
  enum Action: Equatable, Sendable { case renamed(String) }
  struct State: Codable, Identifiable, Sendable {
    var id = 0
    var title = ""
  }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .renamed(let title): .action(.renamed(title))
    case .checked(let title):
      .run("check") { context in
        await context.refuse(
          InputRefusal(.value, "the title is taken", member: "title"), otherwise: .renamed(title))
      }
    }
  }
  func reduce(_ state: inout State, _ action: Action) {
    if case .renamed(let title) = action { state.title = title }
  }
  func refusal(of input: Input) -> InputRefusal? {
    if case .renamed("") = input {
      InputRefusal(.value, "a title is not empty", member: "title")
    } else {
      nil
    }
  }
}

/// Children at each kind of place, whose inputs are at each kind of member.
private struct Board: StateMachine {
  enum Input: Codable, Sendable {
    case labelled(input: Title.Input)
    case plain(Title.Input)
    case tagged(type: Title.Input)
    case optional(input: Title.Input)
    case card(id: Int, change: Title.Input)
    case row(Int, Title.Input)
  }
  enum Action: Sendable {
    case labelled(Title.Action)
    case card(Int, Title.Action)
  }
  struct State: Codable, Sendable {
    var title = Title.State()
    var optional: Title.State? = Title.State()
    var cards: KeyedList<Title.State> = [Title.State(id: 7)]
  }

  let initialState = State()

  var children: [Child<Board>] {
    let action = CasePath(Action.labelled) {
      if case .labelled(let action) = $0 { action } else { nil }
    }
    let cardAction = CasePath(Action.card) {
      if case .card(let id, let action) = $0 { (id, action) } else { nil }
    }
    Child(
      "labelled", Title(), state: \.title,
      input: CasePath(Input.labelled) { if case .labelled(let input) = $0 { input } else { nil } },
      action: action)
    Child(
      "plain", Title(), state: \.title,
      input: CasePath(Input.plain) { if case .plain(let input) = $0 { input } else { nil } },
      action: action)
    Child(
      "tagged", Title(), state: \.title,
      input: CasePath(Input.tagged) { if case .tagged(let input) = $0 { input } else { nil } },
      action: action)
    Child(
      "optional", Title(), optionalState: \.optional,
      input: CasePath(Input.optional) { if case .optional(let input) = $0 { input } else { nil } },
      action: action)
    Child(
      "cards", Title(), elements: \.cards,
      input: CasePath(Input.card) {
        if case .card(let id, let input) = $0 { (id, input) } else { nil }
      }, action: cardAction)
    Child(
      "rows", Title(), elements: \.cards,
      input: CasePath(Input.row) {
        if case .row(let id, let input) = $0 { (id, input) } else { nil }
      }, action: cardAction)
  }

  func effect(of input: Input, in state: State) -> Effect<Action> { .none }
  func reduce(_ state: inout State, _ action: Action) {}
}

/// A board as a child.
private struct Desk: StateMachine {
  enum Input: Codable, Sendable { case board(value: Board.Input) }
  enum Action: Sendable { case board(Board.Action) }
  struct State: Codable, Sendable { var board = Board.State() }

  let initialState = State()

  var children: [Child<Desk>] {
    Child(
      "board", Board(), state: \.board,
      input: CasePath(Input.board) { if case .board(let input) = $0 { input } else { nil } },
      action: CasePath(Action.board) { if case .board(let action) = $0 { action } else { nil } })
  }

  func effect(of input: Input, in state: State) -> Effect<Action> { .none }
  func reduce(_ state: inout State, _ action: Action) {}
}

@Suite("Refusals of children")
struct ChildRefusalTests {
  private static let places = [
    (#"{"type":"labelled","input":TITLE}"#, "/input/title"),
    (#"{"type":"plain","_0":TITLE}"#, "/_0/title"),
    (#"{"type":"tagged","_type":TITLE}"#, "/_type/title"),
    (#"{"type":"optional","input":TITLE}"#, "/input/title"),
    (#"{"type":"card","id":7,"change":TITLE}"#, "/change/title"),
    (#"{"type":"row","_0":7,"_1":TITLE}"#, "/_1/title"),
  ]

  /// Sends an input as JSON; returns the path with which it is refused.
  private func path<Machine: StateMachine>(
    _ input: String, to machine: Machine
  ) async throws -> String? {
    let bench = try await Bench(machine)
    let path = await bench.do { _, store in
      Array(input.utf8).withUnsafeBytes { bytes -> String? in
        var reader = JSONReader(bytes)
        do throws(InputError) {
          _ = try store.send(reading: &reader, from: .server)
          return nil
        } catch {
          guard case .undecodable(let error) = error else { return nil }
          return error.pathDescription
        }
      }
    }
    await bench.end()
    return path
  }

  // Regression: the path was that of the child alone, /title, which is no member of the input.
  @Test("the path begins with the member that contains the input of the child", arguments: places)
  func immediately(_ input: String, _ expected: String) async throws {
    let input = input.replacing("TITLE", with: #"{"type":"renamed","title":""}"#)
    #expect(try await path(input, to: Board()) == expected)
    #expect(
      try await path(#"{"type":"board","value":\#(input)}"#, to: Desk()) == "/value" + expected)
  }

  @Test("so does the path of a refusal by the work of the child", arguments: places)
  func late(_ input: String, _ expected: String) async throws {
    let input = input.replacing("TITLE", with: #"{"type":"checked","title":"a"}"#)
    let desk = try JSON.decode(
      Desk.Input.self, from: JSONValue(parsing: #"{"type":"board","value":\#(input)}"#))
    let bench = try await Bench(Desk())
    try await bench.do { bench, store in
      let result = try #require(try store.send(desk))
      store.respondsAtEnd(of: result.inputID)
      store.whenSettled(result.inputID) {
        bench.notes.add(($0.refusal?.path ?? []).map { "/" + $0 }.joined())
      }
    }
    await bench.reaches(notes: 1)
    #expect(bench.notes.all == ["/value" + expected])
    await bench.end()
  }
}
