// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Conversations

@Suite("Recording")
struct RecordingTests {
  /// Records a text against a server, and checks what becomes of the text.
  func check(
    _ text: String, file: String = "x.conversation", on stage: Stage, becomes expected: String
  ) async throws {
    var rewrites: [Rewrite] = []
    for conversation in try ConversationParser.conversations(in: text.utf8, file: file) {
      let (outcome, recorded) = await stage.player.record(conversation)
      #expect(outcome == .passed)
      rewrites += recorded
    }
    let rewritten = Rewrite.apply(rewrites, to: [UInt8](text.utf8))
    #expect(String(decoding: rewritten, as: UTF8.self) == expected)
  }

  @Test("changes nothing where all is as expected")
  func unchanged() async throws {
    let text = """
      # One.
      --> 1
      <--   {"a":1,
        "b" : "<_>"}

      """
    try await check(text, on: Stage(["{\"b\":2,\"a\":1}"]), becomes: text)
  }

  @Test("replaces what differs, and keeps comments, placeholders and order")
  func replaced() async throws {
    try await check(
      """
      # A comment.
      A --> {"id": 1}
        A <-- {"id": "<id>", "of": {"at": "<at:string>", "old": 1, "n": 2}, "list": ["<id>", 5]}
      # Another.
      A --> ["<id>"]
      A <-- ["<id>", "of <id>", "<_:uuid>"]
      """,
      on: Stage([
        "A": [
          [
            ["{\"list\":[7,6,\"<b>\"],\"of\":{\"n\":3,\"at\":\"x\",\"new\":{\"y\":1}},\"id\":7}"],
            ["[7,\"of 7\",\"no uuid\"]"],
          ]
        ]
      ]),
      becomes: """
        # A comment.
        A --> {"id": 1}
          A <-- {"id": "<id>", "of": {"at": "<at:string>", "n": 3, "new": {"y": 1}}, "list": ["<id>", 6, "<<b>"]}
        # Another.
        A --> ["<id>"]
        A <-- ["<id>", "of <id>", "no uuid"]
        """)
  }

  @Test("keeps that there may be further members, and replaces values of several lines")
  func open() async throws {
    try await check(
      """
      --> 1
      <-- {"a": 1,
           "...": "..."}
      --> 2
      <-- [1]
      """,
      on: Stage(["{\"b\":5,\"a\":2}"], ["{\"...\":\"...\"}"]),
      becomes: """
        --> 1
        <-- {"a": 2, "...": "..."}
        --> 2
        <-- {"...": "<_:string>"}
        """)
  }

  @Test("gives each message of a group to the line that it is nearest to")
  func groups() async throws {
    try await check(
      """
      --> 1
      in any order
        <-- {"id": 1, "a": 1, "b": 1}
        <-- {"id": 2, "a": 2, "b": 2}
        <-- {"id": 3}
      end
      """,
      on: Stage(["{\"id\":2,\"a\":2,\"b\":9}", "{\"id\":3}", "{\"id\":1,\"a\":9,\"b\":1}"]),
      becomes: """
        --> 1
        in any order
          <-- {"id": 1, "a": 9, "b": 1}
          <-- {"id": 2, "a": 2, "b": 9}
          <-- {"id": 3}
        end
        """)
  }

  @Test("leaves the rest of a Markdown file as it is, line ends included")
  func markdown() async throws {
    try await check(
      "# Title\r\n\r\n  ```conversation\r\n  --> 1\r\n  <-- {\"a\":\r\n    1}\r\n  ```\r\nText\r\n",
      file: "x.md", on: Stage(["{\"a\":2}"]),
      becomes:
        "# Title\r\n\r\n  ```conversation\r\n  --> 1\r\n  <-- {\"a\": 2}\r\n  ```\r\nText\r\n")
  }

  @Test("passes when it is played again")
  func again() async throws {
    let text = "--> 0\n<-- 1\n<-- [\"<x>\", \"<x>\"]\n<-- \"<x>\""
    let replies: [Reply] = ["{\"a\":\"<id> <<id>\"}", "[1,2]", "1"]
    let (_, rewrites) = await Stage(replies).player.record(try conversation(text))
    let rewritten = Rewrite.apply(rewrites, to: [UInt8](text.utf8))
    let outcome = await Stage(replies).player.play(
      try conversation(String(decoding: rewritten, as: UTF8.self)))
    #expect(outcome == .passed)
  }

  @Test("cannot record a message that never came, and keeps what it has until then")
  func missing() async throws {
    let text = "--> 0\n<-- 1\n<-- 2"
    let (outcome, rewrites) = await Stage(["3"]).player.record(try conversation(text))
    guard case .failed(let failure) = outcome else {
      Issue.record("passed")
      return
    }
    #expect(failure.line == 3)
    let rewritten = Rewrite.apply(rewrites, to: [UInt8](text.utf8))
    #expect(String(decoding: rewritten, as: UTF8.self) == "--> 0\n<-- 3\n<-- 2")
  }
}
