// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@Suite("Tagged objects")
struct TaggedObjectTests {
  enum Input: JSONReadable, Equatable {
    case added(title: String, note: String?)
    case cleared

    init(reading reader: inout JSONReader) throws(JSONError) {
      let object = try JSONTaggedObject(reading: &reader)
      switch object.type {
      case "added":
        self = .added(title: try object.read("title"), note: try object.readIfPresent("note"))
      case "cleared": self = .cleared
      default: throw object.unknownType()
      }
    }
  }

  @Test(
    "members are found in any order",
    arguments: [
      (#"{"type":"added","title":"x"}"#, Input.added(title: "x", note: nil)),
      (#"{"note":null,"title":"x","type":"added"}"#, .added(title: "x", note: nil)),
      (
        #"{"title":1,"note":"y","type":"cleared","title":"x","type":"added"}"#,
        .added(title: "x", note: "y")
      ),
      (#" {"t\u0079pe":"cleared","x":[{"type":"added"}]} "#, .cleared),
      // More members than the reader remembers, and the last of several with the same key.
      (
        #"{"type":"cleared","title":"a","a":{},"b":[],"c":1.5,"title":"x","type":"added","n\u006fte":"y"}"#,
        .added(title: "x", note: "y")
      ),
    ])
  func reads(_ text: String, _ expected: Input) throws {
    #expect(try read(text) == expected)
  }

  @Test(
    "an error has the path of its cause",
    arguments: [
      (#"[{"type":"nope"}]"#, "/0/type", JSONError.Code.value),
      (#"[{"title":"x"}]"#, "/0/type", .missing),
      (#"[{"type":"added"}]"#, "/0/title", .missing),
      (#"[{"type":"added","title":1}]"#, "/0/title", .type),
      (#"[{"type":7}]"#, "/0/type", .type), (#"[7]"#, "/0", .type),
      ("[{\"type\":\"added\"", "/0/type", .syntax),
      (#"[{"type":"added","title":"x","note":1}]"#, "/0/note", .type),
    ])
  func errors(_ text: String, _ path: String, _ code: JSONError.Code) {
    let error = #expect(throws: JSONError.self) {
      try Array(text.utf8).withUnsafeBytes {
        var reader = JSONReader($0)
        try reader.beginArray()
        while try reader.nextElement() { _ = try reader.read(Input.self) }
      }
    }
    #expect(error?.pathDescription == path && error?.code == code, "\(error as Any)")
  }

  private func read(_ text: String) throws -> Input {
    try Array(text.utf8).withUnsafeBytes {
      var reader = JSONReader($0)
      let input = try reader.read(Input.self)
      try reader.finish()
      return input
    }
  }
}
