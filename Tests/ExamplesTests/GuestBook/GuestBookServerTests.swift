// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Conversations
import Foundation
import StatewireJSON
import TestSupport
import Testing
import Transports

@Suite("The guest book server", .timeLimit(.minutes(15)))
struct GuestBookServerTests {
  private static func signed(_ text: String) -> String {
    #"{"type":"signed","name":"Ann","text":"\#(text)"}"#
  }

  @Test("plays its conversation, with storage in memory and in a folder")
  func conversation() async throws {
    let file = TestedPackage.root.appending(path: "Examples/GuestBook/guestbook.conversation").path
    try await withFolder { folder in
      for options in [["--test"], ["--test", "--data-dir", folder]] {
        let server = try ExampleServer("GuestBook", options: options)
        let reports = Record<String>()
        let run = ConversationRun(
          server: .address(server.address), framing: .lines, wait: .seconds(60)
        ) { reports.add($0) }
        let tally = await run.play([file])
        #expect(tally.passed == 1 && tally.failed == 0, "\(reports.all.joined(separator: "\n"))")
      }
    }
  }

  @Test("refuses an entry that is too long, by name of the limit")
  func limit() async throws {
    let server = try ExampleServer("GuestBook")
    let client = try await server.client()
    let long = Self.signed(String(repeating: "long ", count: 1000))
    let refused = try await client.input(long, to: "guestBook", settle: true)
    #expect(refused["error"]?["code"] == -32015, "\(refused)")
    #expect(refused["error"]?["data"]?["limit"] == "rowBytes", "\(refused)")
  }

  @Test("keeps entries in its folder after kill -9, and carries out each input once")
  func killed() async throws {
    try await withFolder { folder in
      var server = try ExampleServer("GuestBook", "--data-dir", folder)
      var client = try await server.client()
      let opened = try await client.call("session/open", #"{"frontend":"page"}"#)
      let handle = try #require(opened["session"]?.string ?? opened["handle"]?.string, "\(opened)")
      try await client.subscribe(to: "guestBook")
      for number in 1...20 {
        let result = try await client.input(Self.signed("\(number)"), to: "guestBook", settle: true)
        #expect(result["changed"] == true, "\(result)")
      }
      // These are accepted, but not all of them are carried out before the end.
      for number in 21...40 {
        _ = try await client.send(
          "store/send", #"{"store":"guestBook","input":\#(Self.signed("\(number)"))}"#)
      }
      _ = try await client.input(#"{"type":"liked","id":1}"#, to: "guestBook")
      server.kill()
      server = try ExampleServer("GuestBook", "--data-dir", folder)
      client = try await server.client()
      try await client.call("session/attach", #"{"session":"\#(handle)","frontend":"page"}"#)
      try await client.subscribe(to: "guestBook")
      // All inputs had a response, so none is lost.
      while client.state["entries"]?.array?.count != 40 { try await client.awaitUpdate() }
      try await client.reaches("/entries/0/likes", 1)
      let texts = client.state["entries"]?.array?.compactMap { $0["text"]?.string }
      #expect(texts == (1...40).map { "\($0)" })
      // A session that begins now sees the same.
      let other = try await server.client()
      try await other.subscribe(to: "guestBook")
      try await other.reaches("/entries", try #require(client.state["entries"]))
    }
  }
}
