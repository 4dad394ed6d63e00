// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import Testing

@testable import ProcessStores

@Suite("Names of inputs and actions of programs in traces")
struct TraceNamesTests {
  private let long = String(repeating: "x", count: 65)

  @Test("the name is the type, if it looks like a name")
  func names() throws {
    for (text, name) in [
      (#"{"title":"secret","type":"todoAdded"}"#, "todoAdded"),
      (#"{"type":"a.b-c_/9","type":1}"#, "a.b-c_/9"),
      (#"{"type":"my secret"}"#, nil), (#"{"type":"\(long)"}"#, nil), (#"{"type":1}"#, nil),
      (#"{"type":""}"#, nil), (#"["type"]"#, nil), (#""secret""#, nil), ("null", nil), ("{", nil),
    ] {
      let text = JSONText(Array(text.utf8))
      #expect(caseName(of: ProcessInput(text: text)) == name ?? "ProcessInput")
      #expect(caseName(of: ProcessAction.act(text, of: 1, .end, nil)) == name ?? "act")
      let event = ProcessEvent(event: text, recipients: nil)
      #expect(caseName(of: ProcessAction.happened(event)) == name ?? "happened")
    }
    #expect(caseName(of: ProcessAction.reloaded) == "reloaded")
  }
}
