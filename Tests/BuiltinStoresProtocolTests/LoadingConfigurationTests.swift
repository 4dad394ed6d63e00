// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StatewireJSON
import Testing

@Suite("Loader configuration")
struct LoadingConfigurationTests {
  private typealias Tree = LoaderConfiguration
  private static let source = #"{"type":"source","name":"user"}"#

  @Test(
    "a loader configuration is a tree of nodes with defaults",
    arguments: [
      (source, .source(name: "user")),
      (#"{"more":[{"type":1}],"name":"a","name":"b","type":"source"}"#, .source(name: "b")),
      (
        #"{"type":"mock","states":[{"state":{"type":"idle"}},{"after":0.5,"state":{"type":"loaded","value":1}}]}"#,
        .mock(states: [
          .init(.idle), .init(after: .milliseconds(500), .loaded(value: LoadedValue(1))),
        ])
      ),
      (
        #"{"type":"mock","states":[{"after":null,"state":{"type":"loading","progress":{"percent":700}}}]}"#,
        .mock(states: [.init(.loading(progress: LoadingProgress(percent: 100)))])
      ),
      (
        #"{"type":"debounce","of":\#(source)}"#,
        .debounce(interval: .milliseconds(300), of: .source(name: "user"))
      ),
      (
        #"{"type":"debounce","interval":null,"executeFirstImmediately":null,"of":\#(source)}"#,
        .debounce(interval: .milliseconds(300), of: .source(name: "user"))
      ),
      (
        #"{"type":"debounce","interval":0.1,"executeFirstImmediately":true,"of":\#(source)}"#,
        .debounce(
          interval: .milliseconds(100), executeFirstImmediately: true, of: .source(name: "user"))
      ),
      (
        #"{"type":"retry","maxAttempts":3,"of":\#(source)}"#,
        .retry(
          maxAttempts: 3,
          backoff: .init(base: .seconds(1), factor: 2, max: .seconds(30)), of: .source(name: "user")
        )
      ),
      (
        #"{"type":"retry","maxAttempts":1,"backoff":{},"of":\#(source)}"#,
        .retry(maxAttempts: 1, of: .source(name: "user"))
      ),
      (
        #"{"type":"retry","maxAttempts":2,"backoff":{"type":"exponential","base":0.5,"factor":1.5,"max":4},"of":\#(source)}"#,
        .retry(
          maxAttempts: 2, backoff: .init(base: .milliseconds(500), factor: 1.5, max: .seconds(4)),
          of: .source(name: "user"))
      ),
      (
        #"{"type":"retry","maxAttempts":2,"backoff":{"type":null,"max":9,"base":null,"x":[]},"of":\#(source)}"#,
        .retry(maxAttempts: 2, backoff: .init(max: .seconds(9)), of: .source(name: "user"))
      ),
      (
        #"{"type":"timeout","interval":5,"of":\#(source)}"#,
        .timeout(interval: .seconds(5), of: .source(name: "user"))
      ),
      (
        #"{"type":"cache","key":"k","ttl":60,"of":\#(source)}"#,
        .cache(key: "k", ttl: .seconds(60), of: .source(name: "user"))
      ),
      (
        #"{"type":"concurrencyLimit","limit":1,"of":\#(source)}"#,
        .concurrencyLimit(limit: 1, of: .source(name: "user"))
      ),
      (
        #"{"type":"all","of":[\#(source),{"type":"sequence","of":[\#(source)]}]}"#,
        .all(of: [.source(name: "user"), .sequence(of: [.source(name: "user")])])
      ),
    ] as [(String, LoaderConfiguration)])
  func good(text: String, tree: LoaderConfiguration) throws {
    #expect(try JSON.decode(Tree.self, from: Array(text.utf8)) == tree)
    let value = try JSONValue(parsing: text)
    #expect(try JSON.decode(Tree.self, from: value) == tree, "a JSON tree must be decoded too")
  }

  @Test(
    "an invalid configuration is refused with the path of the error",
    arguments: [
      (#"{"type":"loop"}"#, .value, "/type"), (#"{"type":7}"#, .type, "/type"),
      (#"{"type":"source"}"#, .missing, "/name"), (#"{"type":"source","name":1}"#, .type, "/name"),
      (#"{"type":"source","name":""}"#, .value, "/name"),
      (#"{"type":"source","name":"\#(String(repeating: "x", count: 257))"}"#, .value, "/name"),
      (#"{"type":"mock"}"#, .missing, "/states"),
      (#"{"type":"mock","states":[]}"#, .value, "/states"),
      (#"{"type":"mock","states":[{}]}"#, .missing, "/states/0/state"),
      (#"{"type":"mock","states":[{"state":{"type":"x"}}]}"#, .value, "/states/0/state/type"),
      (
        #"{"type":"mock","states":[{"state":{"type":"loaded"}}]}"#, .missing,
        "/states/0/state/value"
      ),
      (
        #"{"type":"mock","states":[{"state":{"type":"idle"}},{"after":-1,"state":{"type":"idle"}}]}"#,
        .value, "/states/1/after"
      ),
      (
        #"{"type":"mock","states":[{"state":{"type":"failure","error":{"code":"a"}}}]}"#, .missing,
        "/states/0/state/error/message"
      ),
      (
        #"{"type":"mock","states":[{"state":{"type":"loaded","value":\#(String(repeating: "[", count: 65))\#(String(repeating: "]", count: 65))}}]}"#,
        .depth, "/states/0/state"
      ),
      (#"{"type":"debounce"}"#, .missing, "/of"), (#"{"type":"debounce","of":null}"#, .type, "/of"),
      (#"{"type":"debounce","interval":"1","of":\#(source)}"#, .type, "/interval"),
      (#"{"type":"debounce","interval":-0.1,"of":\#(source)}"#, .value, "/interval"),
      (#"{"type":"debounce","interval":1e99,"of":\#(source)}"#, .value, "/interval"),
      (
        #"{"type":"debounce","executeFirstImmediately":1,"of":\#(source)}"#, .type,
        "/executeFirstImmediately"
      ),
      (#"{"type":"retry","of":\#(source)}"#, .missing, "/maxAttempts"),
      (#"{"type":"retry","maxAttempts":0,"of":\#(source)}"#, .value, "/maxAttempts"),
      (#"{"type":"retry","maxAttempts":-1,"of":\#(source)}"#, .value, "/maxAttempts"),
      (#"{"type":"retry","maxAttempts":1.5,"of":\#(source)}"#, .number, "/maxAttempts"),
      (#"{"type":"retry","maxAttempts":10001,"of":\#(source)}"#, .limit, "/maxAttempts"),
      (#"{"type":"retry","maxAttempts":2}"#, .missing, "/of"),
      (#"{"type":"retry","maxAttempts":2,"backoff":7,"of":\#(source)}"#, .type, "/backoff"),
      (
        #"{"type":"retry","maxAttempts":2,"backoff":{"type":"linear"},"of":\#(source)}"#, .value,
        "/backoff/type"
      ),
      (
        #"{"type":"retry","maxAttempts":2,"backoff":{"base":-1},"of":\#(source)}"#, .value,
        "/backoff/base"
      ),
      (
        #"{"type":"retry","maxAttempts":2,"backoff":{"factor":-1},"of":\#(source)}"#, .value,
        "/backoff/factor"
      ),
      (
        #"{"type":"retry","maxAttempts":2,"backoff":{"factor":1e999},"of":\#(source)}"#, .number,
        "/backoff/factor"
      ),
      (#"{"type":"timeout","of":\#(source)}"#, .missing, "/interval"),
      (#"{"type":"timeout","interval":null,"of":\#(source)}"#, .type, "/interval"),
      (#"{"type":"timeout","interval":1}"#, .missing, "/of"),
      (#"{"type":"cache","ttl":1,"of":\#(source)}"#, .missing, "/key"),
      (#"{"type":"cache","key":"","ttl":1,"of":\#(source)}"#, .value, "/key"),
      (#"{"type":"cache","key":"k","of":\#(source)}"#, .missing, "/ttl"),
      (#"{"type":"cache","key":"k","ttl":-1,"of":\#(source)}"#, .value, "/ttl"),
      (#"{"type":"concurrencyLimit","of":\#(source)}"#, .missing, "/limit"),
      (#"{"type":"concurrencyLimit","limit":0,"of":\#(source)}"#, .value, "/limit"),
      (#"{"type":"all"}"#, .missing, "/of"), (#"{"type":"all","of":[]}"#, .value, "/of"),
      (#"{"type":"all","of":\#(source)}"#, .type, "/of"),
      (#"{"type":"sequence","of":[]}"#, .value, "/of"),
      (#"{"type":"sequence","of":[\#(source),{"type":"no"}]}"#, .value, "/of/1/type"),
      (
        #"{"type":"timeout","interval":1,"of":{"type":"all","of":[\#(source),{"type":"cache","key":"k","ttl":"1","of":\#(source)}]}}"#,
        .type, "/of/of/1/ttl"
      ),
    ] as [(String, JSONError.Code, String)])
  func bad(text: String, code: JSONError.Code, path: String) {
    let error = #expect(throws: JSONError.self) {
      try JSON.decode(Tree.self, from: Array(text.utf8))
    }
    #expect(error?.code == code)
    #expect(error?.pathDescription == path)
  }

  private func wrapped(_ count: Int, in node: (String) -> String) -> [UInt8] {
    Array((0..<count).reduce(Self.source) { inner, _ in node(inner) }.utf8)
  }

  @Test("a tree is at most 32 nodes high")
  func height() throws {
    func tree(_ count: Int) -> [UInt8] {
      wrapped(count) { #"{"type":"timeout","interval":1,"of":\#($0)}"# }
    }
    #expect(throws: Never.self) { try JSON.decode(Tree.self, from: tree(31)) }
    let error = #expect(throws: JSONError.self) { try JSON.decode(Tree.self, from: tree(32)) }
    #expect(error?.code == .limit)
    #expect(error?.pathDescription == String(repeating: "/of", count: 32))
    #expect(throws: JSONError.self) { try JSON.decode(Tree.self, from: tree(10_000)) }
  }

  @Test("a tree has at most 1,000 nodes")
  func nodes() throws {
    func tree(_ count: Int) -> [UInt8] {
      Array(
        #"{"type":"all","of":[\#(Array(repeating: Self.source, count: count).joined(separator: ","))]}"#
          .utf8)
    }
    #expect(throws: Never.self) { try JSON.decode(Tree.self, from: tree(999)) }
    let error = #expect(throws: JSONError.self) { try JSON.decode(Tree.self, from: tree(1_000)) }
    #expect(error?.code == .limit)
    #expect(error?.pathDescription == "/of/999")
  }

  @Test("nested retries have at most 10,000 attempts in total")
  func attempts() throws {
    func tree(_ count: Int) -> [UInt8] {
      wrapped(count) { #"{"type":"retry","maxAttempts":10,"of":\#($0)}"# }
    }
    #expect(throws: Never.self) { try JSON.decode(Tree.self, from: tree(4)) }
    let error = #expect(throws: JSONError.self) { try JSON.decode(Tree.self, from: tree(5)) }
    #expect(error?.pathDescription == "/of/of/of/of/maxAttempts")
    // Retries that are not nested are counted separately.
    let four = String(decoding: tree(4), as: UTF8.self)
    #expect(throws: Never.self) {
      try JSON.decode(Tree.self, from: Array(#"{"type":"all","of":[\#(four),\#(four)]}"#.utf8))
    }
  }

  @Test("a mock has at most 10,000 states")
  func states() throws {
    func tree(_ count: Int) -> [UInt8] {
      let states = Array(repeating: #"{"state":{"type":"idle"}}"#, count: count)
      return Array(#"{"type":"mock","states":[\#(states.joined(separator: ","))]}"#.utf8)
    }
    #expect(throws: Never.self) { try JSON.decode(Tree.self, from: tree(10_000)) }
    #expect(throws: JSONError.self) { try JSON.decode(Tree.self, from: tree(10_001)) }
  }

  @Test("the mocks of a tree play at most 100,000 states, all attempts together")
  func playedStates() throws {
    func tree(_ count: Int) -> [UInt8] {
      let states = Array(repeating: #"{"state":{"type":"idle"}}"#, count: count)
      let mock = #"{"type":"mock","states":[\#(states.joined(separator: ","))]}"#
      return Array(#"{"type":"retry","maxAttempts":10000,"of":\#(mock)}"#.utf8)
    }
    #expect(throws: Never.self) { try JSON.decode(Tree.self, from: tree(10)) }
    let error = #expect(throws: JSONError.self) { try JSON.decode(Tree.self, from: tree(11)) }
    #expect(error?.code == .limit)
  }
}
