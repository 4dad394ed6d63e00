// SPDX-License-Identifier: Apache-2.0

import StateMachines

struct Card: Codable, Equatable, Identifiable, Sendable {
  let id: String
  var title: String
}

enum Column: String, Codable, Sendable { case todo, doing, done }

struct Board: Codable, Equatable, Sendable {
  var todo: KeyedList<Card> = []
  var doing: KeyedList<Card> = []
  var done: KeyedList<Card> = []

  mutating func put(_ card: Card, in column: Column, before id: String? = nil) {
    switch column {
    case .todo: todo.insert(card, before: id)
    case .doing: doing.insert(card, before: id)
    case .done: done.insert(card, before: id)
    }
  }

  mutating func remove(_ id: String) -> Card? {
    todo.remove(id: id) ?? doing.remove(id: id) ?? done.remove(id: id)
  }
}

/// A board whose last changes can be undone, and which is saved one second after the last change.
struct Kanban: DurableMachine {
  enum Input: Codable, Sendable {
    case cardAdded(title: String, column: Column)
    case cardMoved(id: String, column: Column, before: String?)
    case cardRemoved(id: String)
    case undoTapped, redoTapped
  }
  enum Action: Equatable, Sendable {
    case changed(Board)
    case saved(Board)
    case undone, redone, saveFailed
  }
  enum Saving: String, Codable, Sendable { case saving, saved, failed }
  struct State: Codable, Equatable, Sendable {
    var board = Board()
    var undo: [Board] = []
    var redo: [Board] = []
    var changes = 0
    var saving = Saving.saved
  }
  struct ViewState: Codable, Sendable {
    let board: Board
    let canUndo: Bool
    let canRedo: Bool
    let saving: Saving
  }

  let initialState = State()
  let save: @Sendable (Board) async throws -> Void

  func refusal(of input: Input) -> InputRefusal? {
    guard case .cardAdded("", _) = input else { return nil }
    return InputRefusal(.value, "a card needs a title", member: "title")
  }

  func effect(of input: Input, in state: State) -> Effect<Action> {
    var board = state.board
    switch input {
    case .cardAdded(let title, let column):
      board.put(Card(id: "\(state.changes + 1)", title: title), in: column)
    case .cardMoved(let id, let column, let before):
      guard let card = board.remove(id) else { return .none }
      board.put(card, in: column, before: before)
    case .cardRemoved(let id): if board.remove(id) == nil { return .none }
    case .undoTapped: return state.undo.isEmpty ? .none : .action(.undone)
    case .redoTapped: return state.redo.isEmpty ? .none : .action(.redone)
    }
    return .action(.changed(board))
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .changed(let board):
      state.undo = state.undo.suffix(49) + [state.board]
      (state.board, state.redo, state.saving) = (board, [], .saving)
      state.changes += 1
    case .undone:
      state.redo.append(state.board)
      (state.board, state.saving) = (state.undo.removeLast(), .saving)
    case .redone:
      state.undo.append(state.board)
      (state.board, state.saving) = (state.redo.removeLast(), .saving)
    case .saved(let board): if board == state.board { state.saving = .saved }
    case .saveFailed: state.saving = .failed
    }
  }

  func effect(after action: Action, in state: State) -> Effect<Action> {
    state.saving == .saving ? autosave : .none
  }

  private var autosave: Effect<Action> {
    withState { [save] state in
      .run("save", failing: .saveFailed) { context in
        try await save(state.board)
        await context.send(.saved(state.board))
      }.latest("save")
    }.debounced("autosave", for: .seconds(1))
  }

  func view(of state: State) -> ViewState {
    ViewState(
      board: state.board, canUndo: !state.undo.isEmpty, canRedo: !state.redo.isEmpty,
      saving: state.saving)
  }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    state.saving == .saving ? autosave : .none
  }
}
