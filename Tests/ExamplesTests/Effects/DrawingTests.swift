// SPDX-License-Identifier: Apache-2.0

import StateMachines
import Testing

@Suite("Evolution as docs/effects.md shows it")
struct DrawingTests {
  @Test("states of the first and second version can be read")
  func versions() throws {
    let cards: JSONValue = [["title": "a", "labels": [["name": "b"]]]]
    try Drawing().checkPersistedState(["name": "x", "cards": cards], version: 1)
    try Drawing().checkPersistedState(["title": "x", "cards": cards], version: 2)
    let error = #expect(throws: JSONError.self) {
      try Drawing().checkPersistedState(["title": 1, "cards": cards], version: 2)
    }
    #expect(error?.pathDescription == "/title")
  }
}
