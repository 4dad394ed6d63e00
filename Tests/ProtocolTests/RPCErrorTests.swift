// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import StatewireProtocol
import Testing

@Suite("RPC errors")
struct RPCErrorTests {
  /// Each code and its number, on which clients depend.
  static let numbers: [(RPCErrorCode, Int)] = [
    (.parseError, -32700), (.invalidRequest, -32600), (.methodNotFound, -32601),
    (.invalidParams, -32602), (.internalError, -32603), (.requestCancelled, -32800),
    (.unknownStore, -32010), (.storeClosed, -32011), (.limit, -32015), (.protocolVersion, -32017),
    (.otherConfiguration, -32018),
  ]

  @Test("each code has its documented, unique number")
  func numbers() {
    for (code, number) in Self.numbers { #expect(code.rawValue == number) }
    #expect(Set(Self.numbers.map(\.0)).count == Self.numbers.count)
    #expect(Set(Self.numbers.map(\.1)).count == Self.numbers.count)
  }

  @Test("the server's own codes are in the range that JSON-RPC reserves for servers")
  func range() {
    for (code, _) in Self.numbers where !(-32768 ... -32600).contains(code.rawValue) {
      #expect((-32099 ... -32000).contains(code.rawValue) || code == .requestCancelled)
    }
  }

  @Test("an unknown code is kept")
  func unknown() throws {
    let code = try JSON.decode(RPCErrorCode.self, from: Array("-7".utf8))
    #expect(code.rawValue == -7)
    #expect(try JSON.encode(code) == Array("-7".utf8))
  }

  /// The same error with synthesized coding.
  private struct Plain: Codable, Equatable {
    var code: RPCErrorCode
    var message: String
    var data: JSONValue?
  }

  @Test(
    "an error is written as by synthesized coding, except that missing data is left out",
    arguments: [
      RPCError(.parseError, "no \"JSON\"\n\u{7F}\u{1F600}"), RPCError(.limit, ""),
      RPCError(.limit, "too much", data: ["limit": "frameBytes"]),
      RPCError(.invalidParams, "x", data: .null), RPCError(.init(rawValue: .min), "x", data: []),
      RPCError(.init(rawValue: .max), "x", data: [["a": [1, 2.5, true, nil, "é"]]]),
    ])
  func shape(_ error: RPCError) throws {
    let text = error.jsonBytes()
    let plain = Plain(code: error.code, message: error.message, data: error.data)
    #expect(try JSON.decode(Plain.self, from: text).code == plain.code)
    #expect(try JSON.decode(Plain.self, from: text).message == plain.message)
    var expected = try #require(try JSON.value(plain).object)
    if error.data == nil { expected["data"] = nil }
    #expect(try JSONValue(parsing: text) == .object(expected))
  }

  @Test("the text of an error is compact and has a fixed order of members")
  func text() {
    #expect(
      String(decoding: RPCError(.methodNotFound, "none", data: [1]).jsonBytes(), as: UTF8.self)
        == #"{"code":-32601,"message":"none","data":[1]}"#)
    #expect(
      String(decoding: RPCError(.methodNotFound, "none").jsonBytes(), as: UTF8.self)
        == #"{"code":-32601,"message":"none"}"#)
  }
}
