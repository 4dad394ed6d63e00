// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StatewireJSON
import Testing

/// The form's types as JSON text, read and written both by themselves and by what Swift synthesizes.
@Suite("Form shapes")
struct FormShapeTests {
  /// A value whose own reader and writer are out of sight, so that the synthesized code is used.
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

  /// The error of one reader, and of the other, which has to be alike.
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
    #expect(errors.count == 2, "\(text) was taken", sourceLocation: sourceLocation)
    return errors
  }

  @Test("inputs")
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

  @Test("what frontends see, and what happens once")
  func outputs() throws {
    try check(
      #"{"firstEntry":"a","secondEntry":"b","validationMessages":["x","y"],"submitAllowed":false}"#,
      FormViewState(
        firstEntry: entry("a"), secondEntry: entry("b"), validationMessages: ["x", "y"],
        submitAllowed: false))
    try check(#"{"type":"submitted"}"#, FormEvent.submitted)
  }

  @Test(
    "inputs are refused with the path of the fault, and never with what was entered",
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
    // Escapes count as the bytes that they stand for.
    let escaped = String(repeating: #"\u0078"#, count: 65_536)
    let input = try JSON.decode(
      FormInput.self, from: Array("{\"type\":\"firstEntryChanged\",\"value\":\"\(escaped)\"}".utf8))
    #expect(input == .firstEntryChanged(value: entry(String(repeating: "x", count: 65_536))))
  }

  @Test("entries are equal by their bytes")
  func equality() {
    #expect(entry("\u{E9}") != entry("e\u{301}"))
    #expect(entry("\u{E9}") == entry("\u{E9}"))
    #expect(entry("") == FormEntry())
  }

  @Test("entries, and what has some, do not show them")
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
    #expect("\(FormEntry())" == "(entry)", "not even whether there is one")
  }

  private func entry(_ text: String) -> FormEntry {
    do { return try FormEntry(text) } catch { fatalError("\(error)") }
  }
}
