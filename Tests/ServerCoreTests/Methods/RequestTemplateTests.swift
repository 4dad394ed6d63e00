// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import ServerCore

/// Inputs that match a request template, and inputs that only seem to match.
@Suite("Request templates", .timeLimit(.minutes(15)))
struct RequestTemplateTests {
  /// The forms of a request, with the places of the id, the sequence number and the input.
  static let forms = [
    #"{"jsonrpc":"2.0","id":ID,"method":"store/send","params":{"store":"probe","input":INPUT}}"#,
    #"{"jsonrpc":"2.0","method":"store/send","params":{"store":"probe","input":INPUT},"id":ID}"#,
    #"{ "id" : ID , "method":"store\/send","params":{"input": INPUT ,"store":"\u0070robe"},"jsonrpc":"2.0" }"#,
    #"{"jsonrpc":"2.0","id":ID,"method":"store/send","params":{"store":"probe","input":INPUT,"settle":true}}"#,
    #"{"jsonrpc":"2.0","method":"store/send","params":{"store":"probe","input":INPUT}}"#,
    #"{"id":7,"jsonrpc":"2.0","id":ID,"method":"store/send","params":{"input":1,"store":"probe","input":INPUT}}"#,
  ]

  /// The inputs that replace `INPUT`, after the template was learned.
  static let inputs = [
    #"{"type":"set","number":5}"#,
    #"{"number": 5, "type": "set", "more": {"a": [1, "ü\n"]}}"#,
    #"{"type":"work","name":"a"}"#,
    #"{"type":"nothing"}"#,
    #"{"type":"set"}"#,
    #"{"type":"unheard of"}"#,
    #"{"type":"set","number":5},"store":"other""#,
    #"{"type":"set","number":5},"settle":1"#,
    #"{"type":"set","number":5}}}{"a":{"b":1"#,
    #"{"type":"set","number":5} {}"#,
    #"{"type":"set","number":5}}"#,
    #"{"type":"set","number":5"#,
    #"{"type":"set","number":1},"input":{"type":"set","number":2}"#,
    "\u{1}", "", "null", "[]", "1", #""set""#, #"{"type":"say","text":"ü\ud800"}"#,
  ]

  static let ids = [
    "9", "0", "123456789012345", "1234567890123456789", "01", "-1", "1.5", "\"9\"", "9e1",
  ]

  private func text(_ form: String, _ id: String, _ input: String) -> String {
    var text = ""
    for part in form.split(separator: "ID", omittingEmptySubsequences: false) {
      text += text.isEmpty ? part : id + part
    }
    let parts = text.split(separator: "INPUT", omittingEmptySubsequences: false)
    return String(parts[0]) + input + parts.dropFirst().joined(separator: "INPUT")
  }

  /// Returns the responses to a message that follows others, and to a read of the store's state.
  private func responses(
    to message: String, after learned: [String], readingWhole: Bool
  ) -> [String] {
    let client = TestClient()
    client.send(subscribe("\"s\""))
    for message in learned { client.send(message) }
    client.world.loop.runAll()
    _ = client.takeMessages()
    #expect(client.hasTemplate, "\(learned)")
    if readingWhole { client.forgetTemplate() }
    client.send(message)
    client.send(request("\"state\"", "store/state", #"{"store":"probe"}"#))
    client.world.loop.runAll()
    return client.takeMessages()
  }

  @Test(
    "a request has the same responses on the template's path and on the general path",
    arguments: forms)
  func same(form: String) {
    let start = (1...3).map { text(form, "\($0)", #"{"type":"set","number":\#($0)}"#) }
    for input in Self.inputs {
      for id in input == Self.inputs[0] ? Self.ids : ["9"] {
        let message = text(form, id, input)
        let whole = responses(to: message, after: start, readingWhole: true)
        #expect(responses(to: message, after: start, readingWhole: false) == whole, "\(message)")
        #expect(whole.count > 0)
      }
    }
  }

  private func set(_ form: Int, _ number: Int) -> String {
    text(Self.forms[form], "\(number)", #"{"type":"set","number":\#(number)}"#)
  }

  @Test("the cache holds two templates, so two alternating forms are not learned repeatedly")
  func two() {
    let client = TestClient()
    for number in 1...100 { client.send(set(number % 2, number)) }
    #expect(client.takeMessages().count == 100)
    #expect(client.templateMisses == 0)
  }

  @Test("requests without a common form are served, and learning stops after 16 misses")
  func misses() {
    let client = TestClient()
    for number in 1...100 {
      let form = Self.forms[0].replacing("{\"jsonrpc\"", with: "{\"x\(number)\":0,\"jsonrpc\"")
      client.send(text(form, "\(number)", #"{"type":"set","number":\#(number)}"#))
    }
    #expect(client.takeMessages().count == 100)
    #expect(client.templateMisses == 16)
  }

  @Test("a long request does not become a template")
  func long() {
    let client = TestClient()
    let participant = String(repeating: "x", count: 2000)
    client.send(
      Self.forms[0].replacing("{\"jsonrpc\"", with: "{\"\(participant)\":0,\"jsonrpc\"")
        .replacing("ID", with: "1").replacing("INPUT", with: #"{"type":"set","number":1}"#))
    #expect(client.takeMessages().count == 1)
    #expect(!client.hasTemplate)
    client.send(set(0, 2))
    #expect(client.hasTemplate)
  }

  @Test("the template's path handles sequence numbers before and after the input")
  func sequences() async throws {
    for params in [
      #"{"store":"probe","sequence":N,"input":INPUT}"#,
      #"{"store":"probe","input":INPUT,"sequence":N}"#,
    ] {
      let client = TestClient()
      client.send(request("0", "session/open", #"{"frontend":"page"}"#))
      _ = try await client.messages(1)
      func numbered(_ id: Int, _ sequence: String, _ number: Int) -> String {
        let parts = params.split(separator: "N,", maxSplits: 1, omittingEmptySubsequences: false)
        let input = #"{"type":"set","number":\#(number)}"#
        let filled =
          parts.count == 2
          ? parts[0] + sequence + "," + parts[1].replacing("INPUT", with: input)
          : params.replacing("INPUT", with: input).replacing(":N}", with: ":\(sequence)}")
        return request("\(id)", "store/send", String(filled))
      }
      for id in 1...4 { client.send(numbered(id, "\(id)", id)) }
      try await client.expect(
        all: (1...4).map { sent("\($0)", revision: $0) })
      #expect(client.hasTemplate)
      // An old sequence number, one with a gap, and an invalid one.
      client.send(numbered(5, "3", 9))
      client.send(numbered(6, "9", 6))
      client.send(numbered(7, "0", 7))
      try await client.expect(
        sent("5", revision: 4, changed: false), sent("6", revision: 5),
        failure("7", -32602, data: #"{"path":"/sequence"}"#))
    }
  }
}
