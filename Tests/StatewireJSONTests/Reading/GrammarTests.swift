// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@Suite("Grammar")
struct GrammarTests {
  @Test("a text that RFC 8259 accepts is accepted", arguments: Grammar.accepted)
  func accepts(_ text: String) throws {
    let bytes = Grammar.bytes(text)
    let value = try JSONValue(parsing: bytes)
    try skip(bytes)
    // The written text is the same value, and is stable.
    let again = try JSONValue(parsing: value.bytes)
    #expect(again == value)
    #expect(again.bytes == value.bytes)
  }

  @Test("a text that RFC 8259 refuses is refused", arguments: Grammar.refused)
  func refuses(_ text: String) {
    let bytes = Grammar.bytes(text)
    #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
    #expect(throws: JSONError.self) { try skip(bytes) }
    #expect(throws: JSONError.self) { try JSON.decode([Int].self, from: bytes) }
  }

  @Test("skipping and reading give the same error for a refused text", arguments: Grammar.refused)
  func agrees(_ text: String) {
    let bytes = Grammar.bytes(text)
    let read = #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
    let skipped = #expect(throws: JSONError.self) { try skip(bytes) }
    #expect(read == skipped)
    if let offset = read?.offset { #expect((0...bytes.count).contains(offset)) }
  }

  @Test("each proper prefix of a document is refused", arguments: Grammar.accepted)
  func truncation(_ text: String) throws {
    var bytes = Grammar.bytes(text)
    while bytes.last.map({ [0x20, 0x0A, 0x0D, 0x09].contains($0) }) == true { bytes.removeLast() }
    // A prefix of a number may be a number.
    guard let first = bytes.last, [0x22, 0x5D, 0x7D, 0x65, 0x6C].contains(first) else { return }
    for count in bytes.indices {
      let prefix = Array(bytes[..<count])
      #expect(throws: JSONError.self, "\(count) bytes") { try JSONValue(parsing: prefix) }
      #expect(throws: JSONError.self, "\(count) bytes") { try skip(prefix) }
    }
  }

  @Test("a document with one changed byte is read within its bounds")
  func corruption() {
    let document = Array(#"{"a":[1,-2.5e3,"x\u00e9é\n",true,null],"b":{"c":false}}"#.utf8)
    for offset in document.indices {
      for byte in UInt8.min...UInt8.max {
        var bytes = document
        bytes[offset] = byte
        let read = try? JSONValue(parsing: bytes)
        let isSkipped = (try? skip(bytes)) != nil
        #expect((read != nil) == isSkipped)
      }
    }
  }
}
