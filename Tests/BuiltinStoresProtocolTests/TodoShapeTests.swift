// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StatewireJSON
import Testing

/// Tests that the types of todo lists are read and written as documented.
@Suite("Todos as JSON")
struct TodoShapeTests {
  /// Checks that a text can be decoded and is encoded as the same text.
  private func check<Message: Codable>(
    _ type: Message.Type, _ text: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let message = try JSON.decode(type, from: Array(text.utf8))
    #expect(
      String(decoding: try JSON.encode(message), as: UTF8.self) == text,
      sourceLocation: sourceLocation)
  }

  /// Checks that a text is refused with the path of the error.
  private func refuse<Message: Codable>(
    _ type: Message.Type, _ text: String, at path: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    do throws(JSONError) {
      _ = try JSON.decode(type, from: Array(text.utf8))
      Issue.record("\(text) was accepted", sourceLocation: sourceLocation)
    } catch {
      #expect(error.pathDescription == path, sourceLocation: sourceLocation)
    }
  }

  @Test("the configuration of a todo list is read as documented")
  func todoConfiguration() throws {
    func source(_ text: String) throws -> TodoConfiguration.Source {
      try JSON.decode(TodoConfiguration.self, from: Array(text.utf8)).source
    }
    #expect(try source("{}") == .list("default"))
    #expect(try source(#"{"list":null}"#) == .list("default"))
    #expect(try source(#"{"list":"x","more":1}"#) == .list("x"))
    #expect(try source(#"{"memory":{}}"#) == .memory(count: 0))
    let most = TodoConfiguration.maximumCount
    #expect(try source(#"{"memory":{"count":\#(most)}}"#) == .memory(count: most))
    #expect(try source(#"{"memory":{"count":1e2}}"#) == .memory(count: 100))
    let longest = String(repeating: "x", count: 256)
    #expect(try source("{\"list\":\"\(longest)\"}") == .list(longest))
    #expect(TodoConfiguration(.list("x")) == TodoConfiguration(.list("x")))
    for (text, path) in [
      ("{\"list\":\"\(longest)x\"}", "/list"), (#"{"list":""}"#, "/list"),
      (#"{"list":7}"#, "/list"), (#"{"list":"x","memory":{}}"#, "/list"),
      (#"{"memory":{"count":-1}}"#, "/memory/count"),
      (#"{"memory":{"count":\#(most + 1)}}"#, "/memory/count"),
      (#"{"memory":{"count":1.5}}"#, "/memory/count"), (#"{"memory":[]}"#, "/memory"),
      ("[]", ""), ("null", ""),
    ] {
      #expect {
        _ = try source(text)
      } throws: { error in
        (error as? JSONError)?.pathDescription == path
      }
    }
  }

  @Test("inputs and view state of the add-todo form are read and written as documented")
  func addTodo() throws {
    try check(AddTodoInput.self, #"{"type":"validate","title":""}"#)
    try check(AddTodoInput.self, #"{"type":"addTodo","title":" x "}"#)
    refuse(AddTodoInput.self, #"{"type":"addTodo","title":" "}"#, at: "/title")
    refuse(AddTodoInput.self, #"{"type":"addTodo"}"#, at: "/title")
    refuse(AddTodoInput.self, #"{"type":"add","title":"x"}"#, at: "/type")
    try check(AddTodoViewState.self, #"{"valid":true,"loading":false,"dismiss":false}"#)
    #expect(AddTodoViewState() == AddTodoViewState(valid: false, loading: false, dismiss: false))
  }
}
