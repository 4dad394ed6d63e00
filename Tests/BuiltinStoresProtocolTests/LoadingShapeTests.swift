// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StatewireJSON
import Testing

@Suite("Loading as JSON")
struct LoadingShapeTests {
  /// A wrapper that hides the direct reader and writer of a value, so that `Codable` is used.
  private struct Foreign<Value: Codable>: Codable {
    let value: Value
    init(_ value: Value) { self.value = value }
    init(from decoder: any Decoder) throws { value = try Value(from: decoder) }
    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
  }

  private func check<Value: Codable & Equatable & JSONWritable>(
    _ value: Value, _ text: String, at location: SourceLocation = #_sourceLocation
  ) throws {
    #expect(String(decoding: value.jsonBytes(), as: UTF8.self) == text, sourceLocation: location)
    #expect(
      String(decoding: try JSON.encode(Foreign(value)), as: UTF8.self) == text,
      sourceLocation: location)
    let bytes = Array(text.utf8)
    #expect(try JSON.decode(Value.self, from: bytes) == value, sourceLocation: location)
    #expect(
      try JSON.decode(Foreign<Value>.self, from: bytes).value == value, sourceLocation: location)
  }

  @Test("a view state has all of its fields")
  func states() throws {
    try check(LoadingViewState.idle, #"{"type":"idle"}"#)
    try check(LoadingViewState.loading(progress: nil), #"{"type":"loading","progress":null}"#)
    try check(
      LoadingViewState.loading(progress: LoadingProgress()),
      #"{"type":"loading","progress":{"percent":null,"message":null,"isCancelled":false}}"#)
    try check(
      LoadingViewState.loading(
        progress: LoadingProgress(percent: 7, message: "Cancelled", isCancelled: true)),
      #"{"type":"loading","progress":{"percent":7,"message":"Cancelled","isCancelled":true}}"#)
    try check(
      LoadingViewState.loaded(value: LoadedValue(["a": [1.5, nil, "b"]])),
      #"{"type":"loaded","value":{"a":[1.5,null,"b"]}}"#)
    try check(
      LoadingViewState.failure(error: LoadingFailure(code: "a.b", message: "C")),
      #"{"type":"failure","error":{"code":"a.b","message":"C"}}"#)
  }

  @Test(
    "a changed value is patched at its position",
    arguments: [
      ("[1,2]", "[1,2]", "[]"), ("[1,2]", "[1,2.0]", "[]"),
      (
        #"{"a":"some text that is longer","b":1}"#, #"{"a":"some text that is longer","b":2}"#,
        #"[{"op":"replace","path":"/value/b","value":2}]"#
      ),
      ("[1,2]", "null", #"[{"op":"replace","path":"/value","value":null}]"#),
    ])
  func values(old: String, new: String, expected: String) throws {
    func state(_ text: String) throws -> LoadingViewState {
      .loaded(value: try LoadedValue(json: Array(text.utf8)))
    }
    var held = try JSONEncodedState(state(old))
    #expect(held.textBytes >= old.utf8.count)
    var patch = JSONPatchWriter()
    held.advance(to: try JSONEncodedState(state(new)), writing: &patch)
    #expect(String(decoding: patch.bytes(), as: UTF8.self) == expected)
    var text = JSONWriter()
    held.write(to: &text)
    #expect(text.string() == #"{"type":"loaded","value":\#(new)}"#)
  }

  @Test("an input is an object with only the member `type`")
  func inputs() throws {
    for (input, type) in [
      (LoadingInput.load, "load"), (.loadIfNotLoading, "loadIfNotLoading"), (.appear, "appear"),
      (.cancel, "cancel"), (.reset, "reset"),
    ] {
      try check(input, #"{"type":"\#(type)"}"#)
    }
    for (text, code, path) in [
      ("{}", JSONError.Code.missing, "/type"), ("[]", .type, ""), ("\"load\"", .type, ""),
      (#"{"type":"Load"}"#, .value, "/type"), (#"{"type":7}"#, .type, "/type"),
    ] {
      let error = #expect(throws: JSONError.self) {
        try JSON.decode(LoadingInput.self, from: Array(text.utf8))
      }
      #expect(error?.code == code)
      #expect(error?.pathDescription == path)
      #expect(throws: JSONError.self) {
        try JSON.decode(Foreign<LoadingInput>.self, from: Array(text.utf8))
      }
    }
  }

  @Test(
    "a percent is rounded down to a whole number and clamped to 0...100",
    arguments: [
      ("0", 0), ("100", 100), ("-1", 0), ("101", 100), ("1e300", 100), ("99.999", 99), ("0.5", 0),
      ("-0.5", 0), ("null", nil),
    ])
  func percents(text: String, percent: Int?) throws {
    let bytes = Array(#"{"percent":\#(text)}"#.utf8)
    #expect(try JSON.decode(LoadingProgress.self, from: bytes) == LoadingProgress(percent: percent))
    #expect(
      try JSON.decode(Foreign<LoadingProgress>.self, from: bytes).value
        == LoadingProgress(percent: percent))
  }

  @Test("the percent of progress that is made in Swift is clamped")
  func clamping() {
    #expect(LoadingProgress(percent: 700).percent == 100)
    #expect(LoadingProgress(percent: -7).percent == 0)
    var progress = LoadingProgress()
    progress.percent = 101
    #expect(progress.percent == 100)
  }

  @Test(
    "a percent is computed from completed and total units",
    arguments: [
      (0, 3, 0), (1, 3, 33), (2, 3, 66), (3, 3, 100), (4, 3, 100), (-1, 3, 0), (5, nil, nil),
      (5, 0, nil), (5, -1, nil), (Int.max, Int.max, 100), (Int.max / 2, Int.max, 49),
      (Int.max - 1, Int.max, 99),
    ] as [(Int, Int?, Int?)])
  func counting(completed: Int, total: Int?, percent: Int?) {
    #expect(LoadingProgress(completed: completed, of: total).percent == percent)
  }

  @Test(
    "a value is any JSON, written in one line",
    arguments: [
      ("null", "null"), (" [ 1 ,\n2 ] ", "[1,2]"), (#"{"b":1,"a":2}"#, #"{"b":1,"a":2}"#),
      // A patch for an object with duplicate keys would be wrong for some clients.
      (#"{"a":1,"b":2,"a":3}"#, #"{"a":3,"b":2}"#),
      (#""\ud800\n\u00e9""#, "\"\u{FFFD}\\n\u{E9}\""), ("1.50", "1.50"), ("1e308", "1e308"),
      ("1e-400", "1e-400"),
      ("12345678901234567890123", "12345678901234567890123"),
    ])
  func values(text: String, compact: String) throws {
    #expect(try LoadedValue(json: Array(text.utf8)).description == compact)
    #expect(try JSON.decode(LoadedValue.self, from: Array(text.utf8)).description == compact)
  }

  @Test("a text that is not JSON or nests too deeply is refused")
  func badValues() throws {
    for text in ["", "{", "[1,]", "NaN", "1 2", "\u{FEFF}1", "\"\n\""] {
      #expect(throws: JSONError.self) { try LoadedValue(json: Array(text.utf8)) }
    }
    #expect(throws: JSONError.self) { try LoadedValue(json: [0x22, 0xFF, 0x22]) }
    func nested(_ depth: Int) -> [UInt8] {
      Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    #expect(throws: Never.self) { try LoadedValue(json: nested(64)) }
    #expect(throws: JSONError.self) { try LoadedValue(json: nested(65)) }
    #expect(throws: JSONError.self) { try LoadedValue(json: nested(1_000_000)) }
  }

  @Test("a value with an object key longer than a patch may repeat is refused")
  func longKeys() throws {
    func keyed(_ count: Int) -> [UInt8] {
      Array(#"[{"a":{"\#(String(repeating: "k", count: count))":1}}]"#.utf8)
    }
    #expect(throws: Never.self) { try LoadedValue(json: keyed(4_096)) }
    #expect(throws: JSONError.self) { try LoadedValue(json: keyed(4_097)) }
    #expect(throws: JSONError.self) { try JSON.decode(LoadedValue.self, from: keyed(4_097)) }
  }

  @Test(
    "a number outside the range of `Double` is refused",
    arguments: ["1e400", "-1e309", #"[{"a":[0,2e308]}]"#, String(repeating: "9", count: 400)])
  func numbersTooLarge(text: String) throws {
    let error = #expect(throws: JSONError.self) { try LoadedValue(json: Array(text.utf8)) }
    #expect(error?.code == .number)
    let inside = #"{"type":"loaded","value":\#(text)}"#
    let read = #expect(throws: JSONError.self) {
      try JSON.decode(LoadingViewState.self, from: Array(inside.utf8))
    }
    #expect(read?.code == .number && read?.pathDescription == "/value")
  }

  @Test("a value can be made from text and from other values")
  func making() throws {
    #expect(LoadedValue(text: "a\"b\n").description == #""a\"b\n""#)
    #expect(try LoadedValue(array: []).description == "[]")
    let array = try LoadedValue(array: [LoadedValue(text: "a"), LoadedValue(["b": [1, nil]])])
    #expect(array.description == #"["a",{"b":[1,null]}]"#)
    #expect(array.value == ["a", ["b": [1, nil]]])
    var deep = LoadedValue(text: "a")
    for _ in 1...LoadedValue.maximumDepth { deep = try LoadedValue(array: [deep]) }
    #expect(throws: JSONError.self) { try LoadedValue(array: [deep]) }
    let long = LoadedValue(text: String(repeating: "a", count: LoadedValue.maximumBytes / 3))
    #expect(throws: Never.self) { try LoadedValue(array: [long, long]) }
    #expect(throws: JSONError.self) { try LoadedValue(array: [long, long, long]) }
    #expect(
      LoadedValue(text: "\u{E9}") != LoadedValue(text: "e\u{301}"), "values are compared by bytes")
  }
}
