// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Conversations

@Suite("Recording")
struct RecordingTests {
  /// Records a conversation with a server and checks the rewritten text.
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

  @Test("a recording of the expected messages changes nothing")
  func unchanged() async throws {
    let text = """
      # One.
      --> 1
      <--   {"a":1,
        "b" : "<_>"}

      """
    try await check(text, on: Stage(["{\"b\":2,\"a\":1}"]), becomes: text)
  }

  @Test("a recording replaces differences and keeps comments, placeholders and order")
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

  @Test("a recording keeps `...` and replaces values of several lines")
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

  @Test("a recording assigns each message of a group to the closest line")
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

  @Test("a recording does not change the rest of a Markdown file, including its line ends")
  func markdown() async throws {
    try await check(
      "# Title\r\n\r\n  ```conversation\r\n  --> 1\r\n  <-- {\"a\":\r\n    1}\r\n  ```\r\nText\r\n",
      file: "x.md", on: Stage(["{\"a\":2}"]),
      becomes:
        "# Title\r\n\r\n  ```conversation\r\n  --> 1\r\n  <-- {\"a\": 2}\r\n  ```\r\nText\r\n")
  }

  @Test("a recorded conversation passes when it is played again")
  func again() async throws {
    let text = "--> 0\n<-- 1\n<-- [\"<x>\", \"<x>\"]\n<-- \"<x>\""
    let replies: [Reply] = ["{\"a\":\"<id> <<id>\"}", "[1,2]", "1"]
    let (_, rewrites) = await Stage(replies).player.record(try conversation(text))
    let rewritten = Rewrite.apply(rewrites, to: [UInt8](text.utf8))
    let outcome = await Stage(replies).player.play(
      try conversation(String(decoding: rewritten, as: UTF8.self)))
    #expect(outcome == .passed)
  }

  @Test("a missing message is a failure, and the messages before it are recorded")
  func missing() async throws {
    let text = "--> 0\n<-- 1\n<-- 2"
    let (outcome, rewrites) = await Stage(["3"]).player.record(try conversation(text))
    guard case .failed(let failure) = outcome else {
      Issue.record("the conversation passed, but must fail")
      return
    }
    #expect(failure.line == 3)
    let rewritten = Rewrite.apply(rewrites, to: [UInt8](text.utf8))
    #expect(String(decoding: rewritten, as: UTF8.self) == "--> 0\n<-- 3\n<-- 2")
  }
}
