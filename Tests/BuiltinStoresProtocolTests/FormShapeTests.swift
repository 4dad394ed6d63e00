// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StatewireJSON
import Testing

/// Tests of the JSON of the form's types, by their direct coders and by synthesized code.
@Suite("Form as JSON")
struct FormShapeTests {
  /// A wrapper that hides the direct reader and writer of a value, so that `Codable` is used.
  private struct Synthesized<Value: Codable>: Codable {
    let value: Value
    init(_ value: Value) { self.value = value }
    init(from decoder: any Decoder) throws { value = try Value(from: decoder) }
    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
  }

  private func check<Value: Codable & Equatable>(
    _ text: String, _ value: Value, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let bytes = Array(text.utf8)
    #expect(try JSON.decode(Value.self, from: bytes) == value, sourceLocation: sourceLocation)
    #expect(
      try JSON.decode(Synthesized<Value>.self, from: bytes).value == value,
      sourceLocation: sourceLocation)
    #expect(try JSON.encode(value) == bytes, sourceLocation: sourceLocation)
    #expect(try JSON.encode(Synthesized(value)) == bytes, sourceLocation: sourceLocation)
  }

  /// Returns the errors of both readers for a text that they must refuse.
  private func errors<Value: Codable>(
    _ type: Value.Type, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) -> [JSONError] {
    let bytes = Array(text.utf8)
    var errors: [JSONError] = []
    do throws(JSONError) { _ = try JSON.decode(type, from: bytes) } catch { errors.append(error) }
    do throws(JSONError) {
      _ = try JSON.decode(Synthesized<Value>.self, from: bytes)
    } catch {
      errors.append(error)
    }
    #expect(errors.count == 2, "\(text) was accepted", sourceLocation: sourceLocation)
    return errors
  }

  @Test("inputs are written and read as documented")
  func inputs() throws {
    try check(
      #"{"type":"firstEntryChanged","value":"a"}"#, FormInput.firstEntryChanged(value: entry("a")))
    try check(
      #"{"type":"secondEntryChanged","value":""}"#, FormInput.secondEntryChanged(value: entry("")))
    try check(
      #"{"type":"entriesChanged","firstEntry":"a\"\\","secondEntry":" é👍"}"#,
      FormInput.entriesChanged(firstEntry: entry("a\"\\"), secondEntry: entry(" é👍")))
    try check(#"{"type":"submitTapped"}"#, FormInput.submitTapped)
  }

  @Test("the view state and the event are written and read as documented")
  func outputs() throws {
    try check(
      #"{"firstEntry":"a","secondEntry":"b","validationMessages":["x","y"],"submitAllowed":false}"#,
      FormViewState(
        firstEntry: entry("a"), secondEntry: entry("b"), validationMessages: ["x", "y"],
        submitAllowed: false))
    try check(#"{"type":"submitted"}"#, FormEvent.submitted)
  }

  @Test(
    "an input is refused with the path of the error, and the error does not show the entries",
    arguments: [
      (#"{}"#, .missing, "/type"),
      (#"{"value":"hunter2"}"#, .missing, "/type"),
      (#"{"type":5,"value":"hunter2"}"#, .type, "/type"),
      (#"{"type":"entryChanged","value":"hunter2"}"#, .value, "/type"),
      (#"{"type":"SubmitTapped"}"#, .value, "/type"),
      (#"{"type":"firstEntryChanged"}"#, .missing, "/value"),
      (#"{"type":"firstEntryChanged","firstEntry":"hunter2"}"#, .missing, "/value"),
      (#"{"type":"firstEntryChanged","value":null}"#, .type, "/value"),
      (#"{"type":"secondEntryChanged","value":["hunter2"]}"#, .type, "/value"),
      (#"{"type":"secondEntryChanged","value":{"hunter2":"hunter2"}}"#, .type, "/value"),
      (#"{"type":"secondEntryChanged","value":777777}"#, .type, "/value"),
      (#"{"type":"entriesChanged","firstEntry":"hunter2"}"#, .missing, "/secondEntry"),
      (#"{"type":"entriesChanged","secondEntry":"hunter2"}"#, .missing, "/firstEntry"),
      (
        #"{"type":"entriesChanged","firstEntry":"hunter2","secondEntry":true}"#, .type,
        "/secondEntry"
      ),
      (#"{"type":"entriesChanged","firstEntry":777777,"secondEntry":"x"}"#, .type, "/firstEntry"),
      (#"["hunter2"]"#, .type, ""),
      (#""hunter2""#, .type, ""),
    ] as [(String, JSONError.Code, String)])
  func refused(text: String, code: JSONError.Code, path: String) {
    for error in errors(FormInput.self, text) {
      #expect(error.code == code)
      #expect(error.pathDescription == path)
      #expect(!error.description.contains("hunter2"))
      #expect(!error.description.contains("777777"))
    }
  }

  @Test("an entry has at most 64 KiB of UTF-8, and the error for a longer one does not show it")
  func longest() throws {
    for (character, count) in [("x", 65_536), ("é", 32_768), ("👍", 16_384)] {
      let text = String(repeating: character, count: count)
      #expect(try FormEntry(text).text == text)
      #expect(throws: FormEntry.TooLong.self) { try FormEntry(text + "x") }
      try check(
        "{\"type\":\"firstEntryChanged\",\"value\":\"\(text)\"}",
        FormInput.firstEntryChanged(value: entry(text)))
      let tooLong =
        "{\"type\":\"entriesChanged\",\"firstEntry\":\"\",\"secondEntry\": \"\(text)x\"}"
      for error in errors(FormInput.self, tooLong) {
        #expect(error.code == .value)
        #expect(error.pathDescription == "/secondEntry")
        #expect(error.message == "an entry has at most 65536 bytes")
      }
    }
    // An escape counts as the bytes that it stands for.
    let escaped = String(repeating: #"\u0078"#, count: 65_536)
    let input = try JSON.decode(
      FormInput.self, from: Array("{\"type\":\"firstEntryChanged\",\"value\":\"\(escaped)\"}".utf8))
    #expect(input == .firstEntryChanged(value: entry(String(repeating: "x", count: 65_536))))
  }

  @Test("entries are compared by their bytes")
  func equality() {
    #expect(entry("\u{E9}") != entry("e\u{301}"))
    #expect(entry("\u{E9}") == entry("\u{E9}"))
    #expect(entry("") == FormEntry())
  }

  @Test("no description, reflection or dump of an entry or its container shows the entry")
  func secrets() {
    let secret = entry("hunter2")
    let state = FormViewState(
      firstEntry: secret, secondEntry: secret, validationMessages: [], submitAllowed: true)
    for value in [secret, Optional(secret) as Any, [secret], state] as [Any] {
      var dumped = ""
      dump(value, to: &dumped)
      for shown in ["\(value)", String(reflecting: value), dumped] {
        #expect(!shown.contains("hunter2"), "\(type(of: value))")
      }
    }
    #expect("\(secret)" == "(entry)")
    #expect("\(FormEntry())" == "(entry)", "the text must not show whether the entry is empty")
  }

  private func entry(_ text: String) -> FormEntry {
    do { return try FormEntry(text) } catch { fatalError("\(error)") }
  }
}
