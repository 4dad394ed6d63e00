// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import StatewireClient

@Suite("Conformance: conversations", .timeLimit(.minutes(15)))
struct ConversationTests {
  @Test("every message of the protocol is sent and understood")
  func all() throws {
    let folder = try TestFolder()
    let transcript = folder.file("transcript")
    try Program.run(Program.conformance.appending(path: "record").path, [transcript])
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: transcript)))
    let conversations = try Conversation.read(bytes)
    #expect(conversations.count > 40)
    for conversation in conversations {
      #expect(conversation.lines.count > 1)
      do {
        try ScriptedServer.play(conversation)
      } catch {
        Issue.record("\(conversation.title): \(error)")
      }
    }
  }

  /// Checks that the run detects errors.
  @Test(
    "the run notices what is wrong",
    arguments: [
      (#""revision":1,"patch":[{"op":"replace","path":"/a","value":2}]"#, true),
      (#""revision":1,"patch":[{"op":"replace","path":"/b","value":2}]"#, false),
      (#""revision":1,"patch":{}"#, false),
    ])
  func notices(frame: String, isRight: Bool) throws {
    let transcript = """
      # planted
      --> {"jsonrpc":"2.0","id":1,"method":"store/subscribe","params":{"store":"s"}}
      <-- {"jsonrpc":"2.0","id":1,"result":{"revision":0,"state":{"a":1}}}
      <-- {"jsonrpc":"2.0","method":"store/changed","params":{"store":"s","base":0,\(frame),"applied":null}}
      """
    let conversation = try #require(try Conversation.read(Array(transcript.utf8)).first)
    if isRight {
      try ScriptedServer.play(conversation)
    } else {
      #expect(throws: Unexpected.self) { try ScriptedServer.play(conversation) }
    }
  }
}
