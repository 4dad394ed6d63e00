// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StatewireJSON
import Testing

@Suite("Todo input")
struct TodoInputTests {
  static let good: [(String, TodoInput)] = [
    (#"{"type":"stateRequested"}"#, .stateRequested),
    (#"{"type":"todoAdded","title":"Milk","id":null}"#, .todoAdded(title: "Milk")),
    (#"{"type":"todoAdded","title":"Milk","id":"m"}"#, .todoAdded(title: "Milk", id: "m")),
    (#"{"type":"todoRemoved","id":"1"}"#, .todoRemoved(id: "1")),
    (#"{"type":"todoRenamed","id":"1","title":"Milk"}"#, .todoRenamed(id: "1", title: "Milk")),
    (#"{"type":"todoCompleted","id":"1"}"#, .todoCompleted(id: "1")),
    (#"{"type":"todoReopened","id":"1"}"#, .todoReopened(id: "1")),
    (#"{"type":"todoMoved","id":"1","before":"2"}"#, .todoMoved(id: "1", before: "2")),
    (#"{"type":"todoMoved","id":"1","before":null}"#, .todoMoved(id: "1", before: nil)),
  ]

  @Test("an input is written as it is read", arguments: good)
  func roundTrip(text: String, input: TodoInput) throws {
    #expect(try read(text) == input)
    #expect(String(decoding: input.jsonBytes(), as: UTF8.self) == text)
    #expect(try JSON.encode(input) == Array(text.utf8))
  }

  @Test(
    "members are accepted in any order, unknown ones are ignored, the last duplicate counts",
    arguments: [
      (#" { "title" : "Milk" , "type" : "todoAdded" } "#, .todoAdded(title: "Milk")),
      (#"{"title":"A","type":"todoRenamed","x":[{}],"id":"1"}"#, .todoRenamed(id: "1", title: "A")),
      (#"{"type":"todoAdded","title":5,"title":"B"}"#, .todoAdded(title: "B")),
      (#"{"type":"x","type":"todoAdded","title":"B"}"#, .todoAdded(title: "B")),
      (#"{"type":"todoMoved","id":"1"}"#, .todoMoved(id: "1", before: nil)),
      (#"{"ty\u0070e":"todo\u0052emoved","i\u0064":"\u0031"}"#, .todoRemoved(id: "1")),
      (#"{"type":"todoAdded","title":" \n x"}"#, .todoAdded(title: " \n x")),
      (#"{"id":"\u00e9","type":"todoAdded","title":"x"}"#, .todoAdded(title: "x", id: "é")),
      (#"{"type":"todoRemoved","id":""}"#, .todoRemoved(id: "")),
    ] as [(String, TodoInput)])
  func lenient(text: String, input: TodoInput) throws {
    #expect(try read(text) == input)
  }

  @Test(
    "an invalid input is refused with the path of the error",
    arguments: [
      (#"{}"#, .missing, "/type"),
      (#"{"title":"x"}"#, .missing, "/type"),
      (#"{"type":null}"#, .type, "/type"),
      (#"{"type":"todoEaten"}"#, .value, "/type"),
      (#"{"type":"TodoAdded","title":"x"}"#, .value, "/type"),
      (#"{"type":"todosUpdated","todos":[]}"#, .value, "/type"),
      (#"{"type":"todoAdded"}"#, .missing, "/title"),
      (#"{"type":"todoAdded","title":5}"#, .type, "/title"),
      (#"{"type":"todoAdded","title":null}"#, .type, "/title"),
      (#"{"type":"todoAdded","title":["x"]}"#, .type, "/title"),
      (#"{"type":"todoAdded","title":"x","title":5}"#, .type, "/title"),
      (#"{"type":"todoAdded","title":""}"#, .value, "/title"),
      (#"{"type":"todoAdded","title":" \t\r\n"}"#, .value, "/title"),
      (#"{"type":"todoAdded","title":"x","id":1}"#, .type, "/id"),
      (#"{"type":"todoAdded","title":"x","id":""}"#, .value, "/id"),
      (
        #"{"type":"todoAdded","title":"x","id":"\#(String(repeating: "é", count: 33))"}"#, .value,
        "/id"
      ),
      (#"{"type":"todoRenamed","id":1,"title":"x"}"#, .type, "/id"),
      (#"{"type":"todoRenamed","id":"1","title":" "}"#, .value, "/title"),
      (#"{"type":"todoRemoved","ID":"1"}"#, .missing, "/id"),
      (#"{"type":"todoMoved","before":"1"}"#, .missing, "/id"),
      (#"{"type":"todoMoved","id":"1","before":2}"#, .type, "/before"),
      (#"[{"type":"stateRequested"}]"#, .type, ""),
      (#""stateRequested""#, .type, ""),
      (#"null"#, .type, ""),
    ] as [(String, JSONError.Code, String)])
  func refused(text: String, code: JSONError.Code, path: String) {
    let error = #expect(throws: JSONError.self) { try read(text) }
    #expect(error?.code == code)
    #expect(error?.pathDescription == path)
  }

  @Test("`todosUpdated` can be written, so that inputs inside the process can be recorded")
  func todosUpdated() {
    #expect(
      String(
        decoding: TodoInput.todosUpdated(todos: [Todo(id: "1", title: "A")]).jsonBytes(),
        as: UTF8.self)
        == #"{"type":"todosUpdated","todos":[{"id":"1","title":"A","completed":false}]}"#)
  }

  private func read(_ text: String) throws -> TodoInput {
    try JSON.decode(TodoInput.self, from: Array(text.utf8))
  }
}

@Suite("Todo title")
struct TodoTitleTests {
  @Test(
    "a title is any text that is not only white space, and it is kept unchanged",
    arguments: ["x", " x ", "\u{200B}", "\u{0}", "👍", String(repeating: "é", count: 2_048)])
  func usable(text: String) throws {
    #expect(Array(try TodoTitle(text).text.utf8) == Array(text.utf8))
  }

  @Test(
    "a title of only white space, of any kind, is empty",
    arguments: [
      "", " ", "\t\n\u{B}\u{C}\r", "\u{85}\u{A0}", "\u{1680}\u{2000}\u{200A}", "\u{2028}\u{2029}",
      "\u{202F}\u{205F}\u{3000}",
    ])
  func empty(text: String) {
    #expect(throws: TodoTitle.Unusable.empty) { try TodoTitle(text) }
  }

  @Test(
    "a title has at most 4,096 bytes of UTF-8",
    arguments: [
      (4_096, "x", true), (4_097, "x", false), (2_048, "é", true), (2_049, "é", false),
      (1_024, "👍", true), (1_025, "👍", false),
    ])
  func length(count: Int, character: Character, isUsable: Bool) {
    let text = String(repeating: character, count: count)
    #expect(((try? TodoTitle(text)) != nil) == isUsable)
    let json = Array(#"{"type":"todoAdded","title":"\#(text)"}"#.utf8)
    if isUsable {
      #expect(throws: Never.self) { try JSON.decode(TodoInput.self, from: json) }
    } else {
      let error = #expect(throws: JSONError.self) { try JSON.decode(TodoInput.self, from: json) }
      #expect(error?.message == "a title has at most 4096 bytes")
      #expect(error?.pathDescription == "/title")
    }
  }

  @Test("`Codable` applies the same rules to a title")
  func codable() throws {
    struct Form: Codable { var title: TodoTitle }
    let form = try JSON.decode(Form.self, from: Array(#"{"title":"x"}"#.utf8))
    #expect(try JSON.encode(form) == Array(#"{"title":"x"}"#.utf8))
    let error = #expect(throws: JSONError.self) {
      try JSON.decode(AddTodoInput.self, from: Array(#"{"type":"addTodo","title":" "}"#.utf8))
    }
    #expect(error?.pathDescription == "/title")
    #expect(error?.message == "a title must not be empty")
  }
}
