// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StateMachinesTesting
import TestSupport
import Testing

@testable import Kanban

@Suite("The kanban example")
struct KanbanTests {
  private let milk = Card(id: "1", title: "Milk")

  @Test("moves a card to another column, undoes that and does it again")
  func undo() async throws {
    let store = TestStore(Kanban { _ in })
    let boards = [Board(), Board(todo: [milk]), Board(done: [milk])]
    try await store.send(.cardAdded(title: "Milk", column: .todo)) {
      ($0.board, $0.undo, $0.changes, $0.saving) = (boards[1], [boards[0]], 1, .saving)
    }
    try await store.send(.cardMoved(id: "1", column: .done, before: nil)) {
      ($0.board, $0.undo, $0.changes) = (boards[2], [boards[0], boards[1]], 2)
    }
    try await store.send(.undoTapped) {
      ($0.board, $0.undo, $0.redo) = (boards[1], [boards[0]], [boards[2]])
    }
    try await store.send(.redoTapped) {
      ($0.board, $0.undo, $0.redo) = (boards[2], [boards[0], boards[1]], [])
    }
    try await store.send(.redoTapped)
    try await store.send(.cardRemoved(id: "7"))
    try await store.send(.cardAdded(title: "", column: .todo), refused: .value)
    try await store.advance(by: .seconds(1))
    try await store.receive(.saved(boards[2])) { $0.saving = .saved }
    try await store.finish()
  }

  @Test("saves the board as it is one second after the last change, also after a restart")
  func autosave() async throws {
    let saves = Record<Board>()
    let store = TestStore(Kanban { saves.add($0) }, exhaustive: false)
    try await store.send(.cardAdded(title: "Milk", column: .todo))
    try await store.advance(by: .milliseconds(900))
    try await store.send(.cardMoved(id: "1", column: .doing, before: nil))
    try await store.advance(by: .milliseconds(900))
    #expect(saves.all.isEmpty)
    try await store.restart()
    try await store.advance(by: .seconds(1))
    try await store.receive(.saved(Board(doing: [milk]))) { $0.saving = .saved }
    #expect(saves.all == [Board(doing: [milk])])
    await store.inject(.fail, into: "save")
    try await store.send(.undoTapped) { $0.saving = .saving }
    try await store.advance(by: .seconds(1))
    try await store.receive(.saveFailed) { $0.saving = .failed }
    try await store.finish()
  }

  @Test("runs beside a timer, which stops at its end")
  func desk() async throws {
    let store = TestStore(Desk(kanban: Kanban { _ in }))
    try await store.send(.timer(input: .startTapped(seconds: 2))) { $0.timer.secondsLeft = 2 }
    await store.inject(.fail, into: "kanban/save")
    try await store.send(.kanban(input: .cardAdded(title: "Milk", column: .todo))) {
      $0.kanban.board.todo = [milk]
      ($0.kanban.undo, $0.kanban.changes, $0.kanban.saving) = ([Board()], 1, .saving)
    }
    try await store.advance(by: .seconds(1))
    try await store.receive(.timer(.ticked)) { $0.timer.secondsLeft = 1 }
    try await store.receive(.kanban(.saveFailed)) { $0.kanban.saving = .failed }
    try await store.restart()
    try await store.advance(by: .seconds(5))
    try await store.receive(.timer(.ticked)) { $0.timer.secondsLeft = 0 }
    try await store.receive(event: .workEnded)
    try await store.finish()
  }
}
