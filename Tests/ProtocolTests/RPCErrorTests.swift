// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import StatewireProtocol
import Testing

@Suite("Errors on the wire")
struct RPCErrorTests {
  /// Each code with its number, which clients depend on.
  static let numbers: [(RPCErrorCode, Int)] = [
    (.parseError, -32700), (.invalidRequest, -32600), (.methodNotFound, -32601),
    (.invalidParams, -32602), (.internalError, -32603), (.requestCancelled, -32800),
    (.unknownStore, -32010), (.storeClosed, -32011), (.limit, -32015), (.protocolVersion, -32017),
    (.otherConfiguration, -32018),
  ]

  @Test("codes have their numbers, and no two the same")
  func numbers() {
    for (code, number) in Self.numbers { #expect(code.rawValue == number) }
    #expect(Set(Self.numbers.map(\.0)).count == Self.numbers.count)
    #expect(Set(Self.numbers.map(\.1)).count == Self.numbers.count)
  }

  @Test("our own codes are in the range that JSON-RPC leaves to servers")
  func range() {
    for (code, _) in Self.numbers where !(-32768 ... -32600).contains(code.rawValue) {
      #expect((-32099 ... -32000).contains(code.rawValue) || code == .requestCancelled)
    }
  }

  @Test("an unknown code survives")
  func unknown() throws {
    let code = try JSON.decode(RPCErrorCode.self, from: Array("-7".utf8))
    #expect(code.rawValue == -7)
    #expect(try JSON.encode(code) == Array("-7".utf8))
  }

  /// What Swift would write.
  private struct Plain: Codable, Equatable {
    var code: RPCErrorCode
    var message: String
    var data: JSONValue?
  }

  @Test(
    "writes itself as Swift would, but for data that is not there",
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

  @Test("has exactly this text")
  func text() {
    #expect(
      String(decoding: RPCError(.methodNotFound, "none", data: [1]).jsonBytes(), as: UTF8.self)
        == #"{"code":-32601,"message":"none","data":[1]}"#)
    #expect(
      String(decoding: RPCError(.methodNotFound, "none").jsonBytes(), as: UTF8.self)
        == #"{"code":-32601,"message":"none"}"#)
  }
}
