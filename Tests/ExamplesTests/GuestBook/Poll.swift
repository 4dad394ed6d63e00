// SPDX-License-Identifier: Apache-2.0

import Documents
import StateMachines

// The examples of docs/storage.md that are not parts of Examples/GuestBook.

/// A poll in a stored document.
struct Poll: StateMachine {
  enum Input: Codable, Sendable { case voted(person: String, option: String) }
  enum Action: Sendable {
    case changed(Votes)
    case failed(DocumentError)
  }
  struct Votes: Codable, Equatable, Sendable {
    /// The option of each person.
    var options: [String: String] = [:]
    var isClosed = false
  }

  let votes: Document<Votes>
  let initialState = Votes()

  init(documents: any DocumentStorage) {
    votes = Document("poll", in: documents, initial: Votes())
  }

  var initialEffect: Effect<Action> {
    votes.watch(failing: Action.failed, as: Action.changed)
  }

  func effect(of input: Input, in state: Votes) -> Effect<Action> {
    switch input {
    case .voted(let person, let option):
      votes.update(failing: Action.failed) { votes in
        guard !votes.isClosed else { throw InputRefusal(.value, "the poll is closed") }
        votes.options[person] = option
      }
    }
  }

  func reduce(_ state: inout Votes, _ action: Action) {
    if case .changed(let votes) = action { state = votes }
  }
}

/// A table whose rows have changed twice.
struct Guests {
  struct Guest: Codable, Identifiable, Sendable {
    let id: Int
    var name: String
    /// Since the second version of the program.
    var stars = 0
  }

  static func table(in documents: any DocumentStorage) -> Table<Guest> {
    Table("guests", in: documents, version: 2, defaults: Guest(id: 0, name: "")) { version, row in
      // Version 1 had "title" in place of "name".
      var members = row.object ?? [:]
      members["name"] = members.removeValue(forKey: "title")
      return .object(members)
    }
  }
}
