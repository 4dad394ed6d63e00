// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StatewireJSON
import Testing

/// Tests that types with a direct reader and writer agree with the code that Swift synthesizes.
@Suite("Direct coding")
struct DirectCodingTests {
  /// A wrapper that hides the direct reader and writer of a value, so that `Codable` is used.
  private struct Synthesized<Value: Codable>: Codable {
    let value: Value
    init(_ value: Value) { self.value = value }
    init(from decoder: any Decoder) throws { value = try Value(from: decoder) }
    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
  }

  private func checkWriting<Value: Codable & JSONWritable>(
    _ value: Value, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let direct = String(decoding: value.jsonBytes(), as: UTF8.self)
    let synthesized = String(decoding: try JSON.encode(Synthesized(value)), as: UTF8.self)
    #expect(direct == synthesized, sourceLocation: sourceLocation)
  }

  /// Checks that both readers give the same value or the same error for a text.
  private func checkReading<Value: Codable & Equatable & JSONReadable>(
    _ type: Value.Type, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let direct = Outcome { () throws(JSONError) in
      try JSON.decode(Value.self, from: Array(text.utf8))
    }
    let synthesized = Outcome { () throws(JSONError) in
      try JSON.decode(Synthesized<Value>.self, from: Array(text.utf8)).value
    }
    #expect(direct == synthesized, "\(text)", sourceLocation: sourceLocation)
  }

  private enum Outcome<Value: Equatable>: Equatable {
    case value(Value)
    case refused(JSONError.Code, path: String)

    init(_ body: () throws(JSONError) -> Value) {
      do throws(JSONError) {
        self = .value(try body())
      } catch {
        self = .refused(error.code, path: error.pathDescription)
      }
    }
  }

  /// Makes random texts, inputs and todos, with characters that need escaping or normalization.
  private struct Making {
    var random: Numbers

    mutating func text() -> String {
      let parts = [
        "a", "Milk", " ", "\"", "\\", "/", "\n", "\u{0}", "\u{1F}", "\u{7F}", "é", "e\u{301}",
        "\u{1F600}", "\u{2028}", "\u{FFFD}", "type", "12345678", "x\ty",
      ]
      return (0..<Int.random(in: 0..<6, using: &random)).map { _ in
        parts.randomElement(using: &random) ?? ""
      }.joined()
    }

    mutating func title() -> TodoTitle {
      while true {
        if let title = try? TodoTitle(text()) { return title }
      }
    }

    mutating func id() -> TodoID? { try? TodoID(text()) }

    mutating func todo() -> Todo {
      Todo(id: text(), title: text(), completed: .random(using: &random))
    }

    mutating func todos() -> [Todo] {
      (0..<Int.random(in: 0..<4, using: &random)).map { _ in todo() }
    }

    mutating func input() -> TodoInput {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: .stateRequested
      case 1: .todoAdded(title: title(), id: .random(using: &random) ? id() : nil)
      case 2: .todoRemoved(id: text())
      case 3: .todoRenamed(id: text(), title: title())
      case 4: .todoCompleted(id: text())
      case 5: .todoReopened(id: text())
      case 6: .todoMoved(id: text(), before: .random(using: &random) ? text() : nil)
      default: .todosUpdated(todos: todos())
      }
    }
  }

  private struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state ^ state >> 33) &* 0xFF51_AFD7_ED55_8CCD
    }
  }

  @Test("todo inputs are written and read alike by both coders", arguments: 0..<10)
  func inputs(_ seed: UInt64) throws {
    var making = Making(random: Numbers(state: seed))
    for _ in 0..<200 {
      let input = making.input()
      try checkWriting(input)
      let text = input.jsonBytes()
      if case .todosUpdated = input {
        // A frontend must not send this input.
        #expect(throws: JSONError.self) { try JSON.decode(TodoInput.self, from: text) }
        #expect(try JSON.decode(Synthesized<TodoInput>.self, from: text).value == input)
      } else {
        checkReading(TodoInput.self, String(decoding: text, as: UTF8.self))
        #expect(try JSON.decode(TodoInput.self, from: text) == input)
      }
    }
  }

  @Test("todos and titles are written alike by both coders", arguments: 0..<10)
  func todos(_ seed: UInt64) throws {
    var making = Making(random: Numbers(state: seed))
    for _ in 0..<200 {
      let todo = making.todo()
      try checkWriting(todo)
      #expect(try JSON.decode(Todo.self, from: todo.jsonBytes()) == todo)
      let title = making.title()
      try checkWriting(title)
      #expect(try JSON.decode(TodoTitle.self, from: title.jsonBytes()) == title)
    }
  }

  @Test("view states are written alike by both coders", arguments: 0..<10)
  func viewStates(_ seed: UInt64) throws {
    var making = Making(random: Numbers(state: seed))
    for _ in 0..<50 {
      for state in [
        .loading, .content(todos: Todos(making.todos())),
        .error(code: making.text(), message: making.text()),
      ] as [TodoViewState<Todos>] {
        try checkWriting(state)
        #expect(try JSON.decode(TodoViewState<Todos>.self, from: state.jsonBytes()) == state)
      }
    }
  }

  /// A list with a direct writer, as in the store.
  private struct Todos: Codable, Equatable, Sendable, JSONWritable {
    var todos: [Todo]
    init(_ todos: [Todo]) { self.todos = todos }
    init(from decoder: any Decoder) throws { todos = try [Todo](from: decoder) }
    func encode(to encoder: any Encoder) throws { try todos.encode(to: encoder) }
    func write(to writer: inout JSONWriter) {
      writer.beginArray()
      for todo in todos { writer.value(todo) }
      writer.endArray()
    }
  }

  static let texts = [
    #"{"type":"stateRequested"}"#, #"{"type":"stateRequested","more":[{}]}"#,
    #"{"title":"x","type":"todoAdded"}"#, #"{"type":"todoAdded","title":"a","title":"b"}"#,
    #"{"type":"stateRequested","type":"todoAdded","title":"x"}"#,
    #"{"type":"todoMoved","id":"1"}"#, #"{"type":"todoMoved","id":"1","before":null}"#,
    #"{"type":"todoMoved","id":"1","before":"2"}"#, #"{"\u0074ype":"todo\u0052emoved","id":"1"}"#,
    // Refused texts.
    "{}", "[]", "null", "7", "\"stateRequested\"", #"{"type":null}"#, #"{"type":7}"#,
    #"{"type":"todoAdded","title":"a","id":""}"#, #"{"type":"todoAdded","title":"a","id":[]}"#,
    #"{"type":"none"}"#, #"{"type":"todoAdded"}"#, #"{"type":"todoAdded","title":null}"#,
    #"{"type":"todoAdded","title":7}"#, #"{"type":"todoAdded","title":""}"#,
    #"{"type":"todoAdded","title":" \t\u00a0\u2003"}"#, #"{"type":"todoRemoved","id":1}"#,
    #"{"type":"todoRemoved"}"#, #"{"type":"todoRenamed","id":"1"}"#,
    #"{"type":"todoRenamed","title":"x"}"#, #"{"type":"todoRenamed","id":"1","title":" "}"#,
    #"{"type":"todoMoved","before":"1"}"#, #"{"type":"todoMoved","id":"1","before":2}"#,
    #"{"todoAdded":{"title":"x"}}"#, #"{"type":"todoCompleted","id":"1""#,
    #"{"type":"todoReopened","id":"1"} "#, #"{"type":"todoReopened","id":"1"} x"#,
    #"{"type":"todoReopened","id":"1",}"#, #"{"type":"TodoReopened","id":"1"}"#,
  ]

  @Test("both readers give the same todo input or the same error", arguments: texts)
  func reading(_ text: String) { checkReading(TodoInput.self, text) }

  @Test(
    "both readers give the same todo or the same error",
    arguments: [
      #"{"id":"1","title":"a","completed":true}"#,
      #"{"completed":false,"new":{},"title":"","id":""}"#,
      #"{"id":"1","title":"a"}"#, #"{"title":"a","completed":true}"#,
      #"{"id":"1","completed":true}"#,
      #"{"id":1,"title":"a","completed":true}"#, #"{"id":"1","title":null,"completed":true}"#,
      #"{"id":"1","title":"a","completed":0}"#, "[]", "null", "{}",
    ])
  func readingTodos(_ text: String) { checkReading(Todo.self, text) }

  @Test("a title is not empty and has a maximum length in bytes")
  func titles() throws {
    let longest = String(repeating: "é", count: 2048)
    #expect(try TodoTitle(longest).text == longest)
    #expect(throws: TodoTitle.Unusable.tooLong) { try TodoTitle(longest + "x") }
    #expect(throws: TodoTitle.Unusable.tooLong) {
      try TodoTitle(String(repeating: " ", count: 4097))
    }
    for text in ["", " ", "\t\n\u{A0}\u{2003}\u{3000}"] {
      #expect(throws: TodoTitle.Unusable.empty) { try TodoTitle(text) }
    }
    let padded = " x "
    #expect(try TodoTitle(padded).text == padded, "white space is kept")
    checkReading(TodoTitle.self, "\"\(longest)x\"")
    checkReading(TodoTitle.self, "\" \"")
    checkReading(TodoTitle.self, "7")
  }
}
