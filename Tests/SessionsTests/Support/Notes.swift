// SPDX-License-Identifier: Apache-2.0

import Sessions
import StateMachines
import StatewireJSON

/// A durable store in four versions of its program, each of which is another type in a real one.
struct Note<State: NoteState>: DurableMachine {
  enum Action: Sendable {
    case write(String)
    case start
    case finish
    case interrupt
  }

  let initialState = State()
  var version: Int { State.version }

  func migrate(from version: Int, state: JSONValue) throws -> JSONValue {
    try State.migrate(from: version, state)
  }

  func effect(of input: State.Input, in state: State) -> Effect<Action> {
    if let seconds = State.seconds(of: input) {
      .several(.action(.start), .after(.seconds(seconds), .action(.finish)))
    } else {
      .action(.write(State.text(of: input) ?? ""))
    }
  }

  func restart(of input: State.Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    .after(max(.zero, .seconds(State.seconds(of: input) ?? 0) - elapsed), .action(.finish))
  }

  func interruption(in state: State) -> Action? { .interrupt }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .write(let text): state.text = text
    case .start: state.work = "running"
    case .finish: state.work = "finished"
    case .interrupt: state.work = "interrupted"
    }
  }
}

protocol NoteState: Codable, Sendable {
  associatedtype Input: Codable & Sendable
  static var version: Int { get }
  static func migrate(from version: Int, _ state: JSONValue) throws -> JSONValue
  static func seconds(of input: Input) -> Int?
  static func text(of input: Input) -> String?
  init()
  var text: String { get set }
  var work: String { get set }
}

extension NoteState {
  static var version: Int { 1 }
  static func migrate(from version: Int, _ state: JSONValue) throws -> JSONValue { state }
}

/// The first version.
struct Note1: NoteState {
  enum Input: Codable, Sendable {
    case write(text: String)
    case work(seconds: Int)
  }
  var text = ""
  var work = "none"

  static func seconds(of input: Input) -> Int? {
    if case .work(let seconds) = input { seconds } else { nil }
  }
  static func text(of input: Input) -> String? {
    if case .write(let text) = input { text } else { nil }
  }
}

/// The second version has another member with a default, and needs no migration.
struct Note2: NoteState {
  typealias Input = Note1.Input
  var text = ""
  var work = "none"
  var theme = "light"

  static func seconds(of input: Input) -> Int? { Note1.seconds(of: input) }
  static func text(of input: Input) -> String? { Note1.text(of: input) }
}

/// The third version has renamed a member and an input.
struct Note3: NoteState {
  enum Input: Codable, Sendable {
    case write(text: String)
    case wait(seconds: Int)
  }
  static let version = 2
  var title = ""
  var work = "none"
  var theme = "light"

  var text: String {
    get { title }
    set { title = newValue }
  }

  private enum CodingKeys: CodingKey { case title, work, theme }

  static func migrate(from version: Int, _ state: JSONValue) throws -> JSONValue {
    var members = state.object ?? [:]
    if members["text"] == "bad" { throw JSONError(.value, "no such text", path: [.key("text")]) }
    members["title"] = members.removeValue(forKey: "text")
    return .object(members)
  }

  static func seconds(of input: Input) -> Int? {
    if case .wait(let seconds) = input { seconds } else { nil }
  }
  static func text(of input: Input) -> String? {
    if case .write(let text) = input { text } else { nil }
  }
}

/// A version that cannot read the states of the others.
struct NoteOfNumbers: NoteState {
  typealias Input = Note1.Input
  var title = 0
  var text = ""
  var work = "none"

  private enum CodingKeys: String, CodingKey {
    case title = "text"
    case work
  }

  static func seconds(of input: Input) -> Int? { Note1.seconds(of: input) }
  static func text(of input: Input) -> String? { Note1.text(of: input) }
}
