// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StatewireJSON
import Testing

@Suite("Todo configuration")
struct TodoConfigurationTests {
  @Test(
    "a configuration names a list or describes a list in memory",
    arguments: [
      (#"{}"#, .list("default")),
      (#"{"list":"groceries","later":1}"#, .list("groceries")),
      (#"{"list":null}"#, .list("default")),
      (#"{"list":null,"memory":null}"#, .list("default")),
      // Regression: null for an absent optional was refused.
      (#"{"list":"x","memory":null}"#, .list("x")),
      (#"{"list":null,"memory":{"count":3}}"#, .memory(count: 3)),
      (#"{"memory":{}}"#, .memory(count: 0)),
      (#"{"memory":{"count":null}}"#, .memory(count: 0)),
      (#"{"memory":{"count":0}}"#, .memory(count: 0)),
      (#"{"memory":{"count":1e5,"x":1}}"#, .memory(count: 100_000)),
      (
        #"{"list":"\#(String(repeating: "x", count: 256))"}"#,
        .list(String(repeating: "x", count: 256))
      ),
    ] as [(String, TodoConfiguration.Source)])
  func good(text: String, source: TodoConfiguration.Source) throws {
    #expect(
      try JSON.decode(TodoConfiguration.self, from: Array(text.utf8)) == TodoConfiguration(source))
  }

  @Test(
    "an invalid configuration is refused with the path of the error",
    arguments: [
      (#"[]"#, .type, ""), (#"null"#, .type, ""),
      (#"{"list":5}"#, .type, "/list"),
      (#"{"list":""}"#, .value, "/list"),
      (#"{"list":"\#(String(repeating: "x", count: 257))"}"#, .value, "/list"),
      (#"{"list":"\#(String(repeating: "é", count: 129))"}"#, .value, "/list"),
      (#"{"list":"x","memory":{}}"#, .value, "/list"),
      (#"{"memory":5}"#, .type, "/memory"),
      (#"{"memory":[]}"#, .type, "/memory"),
      (#"{"memory":{"count":-1}}"#, .value, "/memory/count"),
      (#"{"memory":{"count":100001}}"#, .value, "/memory/count"),
      (#"{"memory":{"count":"3"}}"#, .type, "/memory/count"),
      (#"{"memory":{"count":1.5}}"#, .number, "/memory/count"),
    ] as [(String, JSONError.Code, String)])
  func bad(text: String, code: JSONError.Code, path: String) {
    let error = #expect(throws: JSONError.self) {
      try JSON.decode(TodoConfiguration.self, from: Array(text.utf8))
    }
    #expect(error?.code == code)
    #expect(error?.pathDescription == path)
  }
}
