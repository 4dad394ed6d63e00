// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing
import Wire

@Suite("Envelope")
struct EnvelopeTests {
  /// Calls `body` with the envelope of a text.
  private func read(_ text: String, _ body: (Envelope) throws -> Void) throws {
    try Array(text.utf8).withUnsafeBytes { bytes in
      var reader = JSONReader(bytes)
      let envelope = try Envelope(reading: &reader)
      try reader.finish()
      try body(envelope)
    }
  }

  private func string(_ bytes: UnsafeRawBufferPointer) -> String {
    String(decoding: bytes, as: UTF8.self)
  }

  @Test("the envelope gives the members of a request as they are in the text")
  func request() throws {
    let text = #"{"jsonrpc":"2.0","id":"\u0061","method":"p\u0069ng","params":{"a":[1,{}]},"x":0}"#
    try read(" " + text + " ") { envelope in
      #expect(string(envelope.text) == text)
      #expect(envelope.fault == nil)
      #expect(!envelope.isResponse)
      #expect(envelope.method.map { $0 == "ping" } == true)
      guard case .usable(let id) = envelope.id, case .object(let params) = envelope.params else {
        Issue.record("the envelope has no id or no params")
        return
      }
      #expect(string(id) == #""\u0061""#)
      #expect(string(params.text) == #"{"a":[1,{}]}"#)
    }
  }

  @Test(
    "the envelope states why a message is not a valid request",
    arguments: [
      (#"{"id":1,"method":"a"}"#, "jsonrpc must be \"2.0\""),
      (#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, "jsonrpc must be \"2.0\""),
      (#"{"jsonrpc":"2.0","id":1}"#, "method must be a string"),
      (#"{"jsonrpc":"2.0","method":1}"#, "method must be a string"),
      (
        #"{"jsonrpc":"2.0","id":{},"method":"a"}"#,
        "id must be a string, a number or null, of at most 1024 bytes"
      ),
      (#"{"jsonrpc":"2.0","method":"a","params":1}"#, "params must be an object"),
      // The connection rejects these only for existing methods.
      (#"{"jsonrpc":"2.0","method":"a","params":[]}"#, nil),
      (#"{"jsonrpc":"2.0","method":"a","params":null}"#, nil),
    ] as [(String, String?)])
  func faults(_ text: String, _ fault: String?) throws {
    try read(text) { #expect($0.fault == fault) }
  }

  @Test(
    "the envelope distinguishes responses from requests",
    arguments: [
      (#"{"jsonrpc":"2.0","id":1,"result":{}}"#, true),
      (#"{"jsonrpc":"2.0","id":1,"error":{}}"#, true),
      (#"{"jsonrpc":"2.0","id":1,"result":{},"method":"a"}"#, false),
      (#"{"jsonrpc":"2.0","id":1}"#, false),
    ])
  func responses(_ text: String, _ expected: Bool) throws {
    try read(text) { #expect($0.isResponse == expected) }
  }

  @Test(
    "a message that is not an object is refused", arguments: ["[]", "1", "{", #"{"id":1"#, "{} {}"])
  func notAnObject(_ text: String) {
    #expect(throws: JSONError.self) { try read(text) { _ in } }
  }
}
