// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing
import Wire

@testable import Delivery

@Suite("Discarded responses")
struct DiscardedResponsesTests {
  private static let framings: [MessageFraming] = [
    .stream(.lines), .stream(.headers), .webSocket,
  ]

  private func output(_ messages: [String], _ framing: MessageFraming) -> [UInt8] {
    var writer = JSONWriter()
    for message in messages {
      framing.frame(into: &writer) { writer in
        Array(message.utf8).withUnsafeBytes { writer.raw($0) }
      }
    }
    return writer.bytes()
  }

  @Test("the ids of their requests are read, in every framing", arguments: 0..<3)
  func ids(framing index: Int) {
    let framing = Self.framings[index]
    let long = String(repeating: "x", count: 70_000)
    let bytes = output(
      [
        #"{"jsonrpc":"2.0","id":1,"result":{"id":5}}"#,
        #"{"jsonrpc":"2.0","method":"store/changed","params":{"id":6}}"#,
        #"[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":"a","error":{}}]"#,
        #"{"jsonrpc":"2.0","id":"b","result":"\#(long)"}"#,
        #"{"jsonrpc":"2.0","id":3,"result":"\#(long.prefix(300))"}"#,
      ], framing)
    let responses = DiscardedResponses(in: bytes, framing: framing)
    func text(_ ids: [[UInt8]]?) -> [String]? {
      ids?.map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(text(responses?.single) == ["1", #""b""#, "3"])
    #expect(responses?.batches.map { text($0) } == [["2", #""a""#]])
    #expect(DiscardedResponses(in: [], framing: framing) == DiscardedResponses())
    // A part of a frame was sent before.
    #expect(DiscardedResponses(in: Array(bytes.dropFirst(20)), framing: framing) == nil)
    #expect(DiscardedResponses(in: Array(bytes.dropLast(3)), framing: framing) == nil)
  }

  @Test("a message in fragments, and control frames between messages of a WebSocket")
  func fragments() {
    let message = Array(#"{"jsonrpc":"2.0","id":1,"result":{}}"#.utf8)
    var writer = JSONWriter()
    for (part, isFirst, isLast) in [
      (message[..<5], true, false), (message[5..<9], false, false), (message[9...], false, true),
    ] {
      part.withUnsafeBytes {
        MessageFraming.webSocket.frame(
          part: $0, of: message.count, isFirst: isFirst, isLast: isLast, into: &writer)
      }
    }
    let bytes = [0x8A, 2, 0x70, 0x71] + writer.bytes() + [0x8A, 0]
    #expect(
      DiscardedResponses(in: bytes, framing: .webSocket)?.single == [Array("1".utf8)])
  }

  @Test("the requests of messages that were not carried out count as well")
  func messages() {
    var responses = DiscardedResponses()
    responses.add(message: Array(#"{"id":1,"method":"ping"}"#.utf8))
    responses.add(message: Array(#"{"method":"ping"}"#.utf8))
    responses.add(message: Array(#"[{"id":2,"method":"ping"},{"method":"ping"}]"#.utf8))
    responses.add(message: Array("x".utf8))
    #expect(responses.single == [Array("1".utf8)] && responses.batches == [[Array("2".utf8)]])
  }
}
