// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Conversations

@Suite("Transcript")
struct TranscriptTests {
  /// Plays a text and checks the lines of the transcript.
  func check(
    _ text: String, on stage: Stage, passes: Bool = true, _ lines: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let played = await stage.player.perform(try conversation(text), recording: false)
    #expect((played.outcome == .passed) == passes, sourceLocation: sourceLocation)
    #expect(
      played.transcript.lines.map { String(decoding: $0.bytes, as: UTF8.self) } == lines,
      sourceLocation: sourceLocation)
  }

  @Test("the transcript has the bytes of each message, in the order of the connection")
  func bytes() async throws {
    try await check(
      "--> {\"id\": \"é\",\n  \"a\": 1.0}\n<-- \"<_>\"\n<-- 2\n<-- 3",
      on: Stage(["{ \"b\":1.50, \"b\" : \"\\u00e9\u{301}\"}\t", "2.0", "3"]),
      [
        "--> {\"id\":\"é\",\"a\":1.0}", "<-- { \"b\":1.50, \"b\" : \"\\u00e9\u{301}\"}\t",
        "<-- 2.0",
        "<-- 3",
      ])
  }

  @Test("a frame that is not JSON on one line is quoted, in the form in which it can be sent again")
  func quoted() async throws {
    let sent = [
      "--> frame \"{\\\"a\\\\\\n\\r\\x09\\x00é\"", "--> frame \"\\xFFA\\xC3\\xA9\"",
      "--> frame \"close\"", "--> frame \"\"", "--> frame \"[1] 2\"",
      "--> raw \"Content-Length: 2\\r\\n\\r\\n{}\"",
    ]
    try await check(
      sent.joined(separator: "\n") + "\n<-- [1, 2]", on: Stage([], [], [], [], [], ["[1,\n2]"]),
      sent + ["<-- frame \"[1,\\n2]\""])
    // A frame that is JSON is written as a message.
    try await check("--> frame [ 1]", on: Stage([]), ["--> [ 1]"])
  }

  @Test("the transcript has the ends of connections and input, except the closing at the end")
  func endings() async throws {
    try await check(
      "A --> 1\nA --> close\nA --> 2\nA --> end of input\nA <-- close\nB --> 3",
      on: Stage(["A": [[[]], [[], [.close]]], "B": [[[]]]]),
      [
        "A --> 1", "A --> close", "A --> 2", "A --> end of input", "A <-- close", "B --> 3",
      ])
  }

  @Test("the transcript has a message at the step that takes it, not at its arrival")
  func severalConnections() async throws {
    // Both servers have sent all their messages before the first step that takes one.
    let stage = Stage(["A": [[["1", "2"], []]], "B": [[["3", "4", "5"]]]])
    try await check(
      """
      A --> "a"
      B --> "b"
      B <-- 3
      in any order
        A <-- 1
        B <-- 5
        A <-- 2
        B <-- 4
      end
      A --> "c"
      """, on: stage,
      [
        "A --> \"a\"", "B --> \"b\"", "B <-- 3", "A <-- 1", "A <-- 2", "B <-- 4", "B <-- 5",
        "A --> \"c\"",
      ])
  }

  @Test("the transcript ends with the unexpected message")
  func failing() async throws {
    let lines = ["--> 1", "<-- 2"]
    try await check("--> 1\n<-- 3\n--> 4", on: Stage(["2"], []), passes: false, lines)
    try await check("--> 1\n<-- nothing for 1\n--> 4", on: Stage(["2"]), passes: false, lines)
    try await check("--> 1\n<-- close\n--> 4", on: Stage(["2"]), passes: false, lines)
    try await check("--> 1\n<-- 2", on: Stage([.close]), passes: false, ["--> 1", "<-- close"])
    try await check("--> 1\n<-- 2", on: Stage([]), passes: false, ["--> 1"])
    try await check("--> 1\n<-- 2", on: Stage(["{"]), passes: false, ["--> 1", "<-- frame \"{\""])
  }

  // MARK: Differences

  private func transcript(_ messages: [String]) -> Transcript {
    var transcript = Transcript()
    for (index, message) in messages.enumerated() {
      transcript.source = 10 + index
      transcript.received(Array(message.utf8), on: "A")
    }
    return transcript
  }

  @Test("a difference is the first line that differs or is missing")
  func differences() throws {
    #expect(transcript(["1", "2"]).firstDifference(from: transcript(["1", "2"])) == nil)
    #expect(transcript([]).firstDifference(from: transcript([])) == nil)
    let changed = try #require(
      transcript(["1", "2", "4"]).firstDifference(from: transcript(["1", "3", "5"])))
    #expect(changed.number == 2)
    #expect(changed.source == 11)
    #expect(changed.own == "A <-- 2")
    #expect(changed.other == "A <-- 3")
    for (own, other) in [(["1"], ["1", "2"]), (["1", "2"], ["1"])] {
      let difference = try #require(transcript(own).firstDifference(from: transcript(other)))
      #expect(difference.number == 2)
      #expect(difference.source == 11)
      #expect(
        Set([difference.own, difference.other]) == Set(["A <-- 2", "the transcript has ended"]))
    }
    // A number that is written differently is a difference.
    #expect(transcript(["1"]).firstDifference(from: transcript(["1.0"])) != nil)
  }

  @Test("a long line is shown around its difference, without cutting a character")
  func longLines() throws {
    for shift in 0..<5 {
      let start =
        "[" + String(repeating: "\"é\",", count: 999) + String(repeating: " ", count: shift)
      let difference = try #require(
        transcript([start + "1]"]).firstDifference(from: transcript([start + "2]"])))
      #expect(difference.own.hasPrefix("…"))
      #expect(difference.own.hasSuffix("1]"))
      #expect(difference.other.hasSuffix("2]"))
      #expect(difference.own.utf8.count < 100)
      #expect(!difference.own.contains("\u{FFFD}"))
    }
  }
}
