// SPDX-License-Identifier: Apache-2.0

import Documents
import StateMachines

/// A guest book with entries, for tests of tables.
struct GuestBook: StateMachine, DurableMachine {
  enum Input: Codable, Sendable {
    case signed(name: String)
    /// Is settled a second after the entry was added.
    case signedAndWaited(name: String)
    /// Adds two entries and changes one of them twice.
    case signedTwice(name: String)
    case renamed(id: Int, name: String)
    case put(id: Int, name: String)
    case removed(id: Int)
    case watched
  }
  enum Action: Equatable, Sendable {
    case changed(TableChange<Entry>)
    case done
    case failed(DocumentError)
  }
  struct Entry: Codable, Equatable, Identifiable, Sendable {
    let id: Int
    var name: String
  }
  struct State: Codable, Equatable, Sendable {
    var entries = TableRows<Entry>()
    var done = 0
    var failure: String?
  }

  let entries: Table<Entry>
  var isWatching = true

  var initialState: State { State() }
  var initialEffect: Effect<Action> { isWatching ? watch(after: nil) : .none }

  private func watch(after position: TablePosition?) -> Effect<Action> {
    entries.watch(after: position, failing: Action.failed, as: Action.changed)
  }

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .signed(let name):
      entries.append(then: .done, failing: Action.failed) { Entry(id: $0, name: name) }
    case .signedAndWaited(let name):
      .several(
        entries.append(failing: Action.failed) { Entry(id: $0, name: name) },
        .after(.seconds(1), .action(.done)))
    case .signedTwice(let name):
      .several(
        entries.append(failing: Action.failed) { Entry(id: $0, name: name) },
        entries.append(failing: Action.failed) { Entry(id: $0, name: name) },
        entries.update(1, failing: Action.failed) { $0?.name += "!" },
        entries.update(1, failing: Action.failed) { $0?.name += "?" },
        .after(.seconds(1), .action(.done)))
    case .renamed(let id, let name):
      entries.update(id, then: .done, failing: Action.failed) { entry in
        guard entry != nil else { throw InputRefusal(.value, "no such entry", member: "id") }
        entry?.name = name
      }
    case .put(let id, let name):
      entries.put(Entry(id: id, name: name), then: .done, failing: Action.failed)
    case .removed(let id): entries.remove(id, then: .done, failing: Action.failed)
    case .watched: watch(after: state.entries.position)
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .changed(let change):
      state.entries.apply(change)
      state.failure = nil
    case .done: state.done += 1
    case .failed(let error): state.failure = error.message
    }
  }

  func view(of state: State) -> State { state }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    effect(of: input, in: state)
  }

  func resumption(in state: State) -> Effect<Action> {
    isWatching ? watch(after: state.entries.position) : .none
  }
}

/// A table of guest book entries.
func entries(in storage: any DocumentStorage = MemoryDocumentStorage()) -> Table<GuestBook.Entry> {
  Table("entries", in: storage)
}
