// SPDX-License-Identifier: Apache-2.0

import JournalTestSupport
import Sessions
import Testing

/// The entries that reproduce a session.
@Suite("Entries of a session")
struct EntriesTests {
  @Test("the entries of a session reproduce it, after any turn", arguments: 1...4)
  func reproduce(seed: UInt64) throws {
    var (turns, model) = (RandomTurns(seed: seed), JournalContents())
    for turn in 0..<1000 {
      for entry in turns.next() { model.take(entry) }
      guard turn % 10 == 0 else { continue }
      for session in model.sessions {
        var again = JournalContents()
        for entry in session.entries { again.take(entry) }
        let (text, expected) = (again.sessions.first?.text, session.text)
        guard text != expected else { continue }
        let lines = zip(text?.split(separator: "\n") ?? [], expected.split(separator: "\n"))
        for (one, other) in lines where one != other {
          Issue.record("turn \(turn): \(one.prefix(1000))\ninstead of\n\(other.prefix(1000))")
        }
        return
      }
    }
  }
}
