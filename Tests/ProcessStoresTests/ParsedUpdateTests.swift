// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import ProcessStores

@Suite("Updates of programs")
struct ParsedUpdateTests {
  @Test(
    "have a limited number of effects and of events",
    arguments: [
      ("effects", #"{"type":"cancel","id":"a"}"#), ("events", #"{"event":{"type":"a"}}"#),
    ])
  func limits(_ member: String, _ entry: String) throws {
    func read(_ count: Int) throws(JSONError) {
      let entries = Array(repeating: entry, count: count).joined(separator: ",")
      let text = Array(#"{"\#(member)":[\#(entries)]}"#.utf8)
      let result = text.withUnsafeBytes { bytes in
        Result { () throws(JSONError) in try ParsedUpdate(bytes) }
      }
      _ = try result.get()
    }
    try read(1_000)
    #expect {
      try read(1_001)
    } throws: {
      "\($0)".contains("an update has at most 1000 \(member)")
    }
  }
}
