// SPDX-License-Identifier: Apache-2.0

import Sessions
import StateMachines
import StatewireJSON
import Testing

@testable import ServerCore

@Suite("Limits that a store author defines")
struct OwnLimitTests {
  // They had the code -32602, because only the names of the built-in limits were known.
  @Test("a refusal has the code -32015, its limit and its path, as for built-in limits")
  func refused() {
    let client = TestClient(World(kinds: [StoreKind("board") { Board() }]))
    let input = #"{"type":"pin","note":"much too long"}"#
    client.send(request("1", "store/send", #"{"store":"board","input":\#(input)}"#))
    #expect(
      client.takeMessages() == [
        """
        {"jsonrpc":"2.0","id":1,"error":{"code":-32015,"message":"a note has at most 8 bytes",\
        "data":{"path":"/input/note","limit":"noteBytes"}}}
        """
      ])
  }
}

private struct Board: StateMachine {
  enum Input: Codable, Sendable {
    case pin(note: String)
  }
  struct State: Codable, Sendable {
    var notes: [String] = []
  }

  let initialState = State()

  func refusal(of input: Input) -> InputRefusal? {
    guard case .pin(let note) = input, note.utf8.count > 8 else { return nil }
    return InputRefusal(.limit("noteBytes"), "a note has at most 8 bytes", member: "note")
  }

  func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }

  func reduce(_ state: inout State, _ action: Input) {
    if case .pin(let note) = action { state.notes.append(note) }
  }
}
