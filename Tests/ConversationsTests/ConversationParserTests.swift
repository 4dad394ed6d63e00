// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Sessions
import StatewireJSON
import Testing

@testable import Conversations

@Suite("Conversation parser")
struct ConversationParserTests {
  @Test("the parser reads every kind of line")
  func everything() throws {
    let conversation = try conversation(
      """
      # A comment, and the empty line below.

      @server --test --data-dir "a b"
      @framing headers
      @wait 0.5
      @pause 1.25
      @given token
      --> {"id": 1}
      <-- {"id": 1,
           "result": {}}
      A --> [1]
        alice_2-x <-- true
      in any order
        <-- 1
        A <-- 2
      end
      <-- nothing for 2
      --> raw "\\x00\\n"
      --> frame "[" * 3
      --> frame {"a: [
      A --> end of input
      A --> close
      <-- close
      """)
    #expect(conversation.serverOptions == ["--test", "--data-dir", "a b"])
    #expect(conversation.framing?.name == "headers")
    #expect(conversation.givenNames == ["token"])
    #expect(conversation.line == 1)
    #expect(conversation.connectionNames == ["", "A", "alice_2-x"])
    #expect(!conversation.reopensConnections)
    #expect(
      conversation.steps.map(\.shown) == [
        "5 wait 0.5 s", "6 pause 1.25 s", "8 send {\"id\": 1}",
        "9 expect {\"id\": 1, \"result\": {}}",
        "11 A send [1]", "12 expect alice_2-x true", "13 expect 1 | A 2", "17 nothing for 2 s",
        "18 raw [0, 10]", "19 frame [91, 91, 91]", "20 frame [123, 34, 97, 58, 32, 91]",
        "21 A end of input", "22 A close", "23 expect close",
      ])
  }

  @Test("the parser accepts CRLF line ends, and a last line without an end")
  func lineEnds() throws {
    let conversation = try conversation("--> 1\r\n<-- 2\r\n\r\n<-- 3")
    #expect(conversation.steps.map(\.shown) == ["1 send 1", "2 expect 2", "4 expect 3"])
  }

  @Test("the parser notes whether a connection is opened again")
  func reopening() throws {
    for (text, reopens) in [
      ("--> 1\n--> close", false), ("--> 1\n--> close\n--> 2", true),
      ("--> 1\n<-- close\nA --> 2", false), ("--> 1\n<-- close\n<-- 2", true),
    ] {
      #expect(try conversation(text).reopensConnections == reopens, "\(text)")
    }
  }

  @Test(
    "an error names the line, the column and the cause",
    arguments: [
      ("", "1:1: the conversation is empty: it sends and expects nothing"),
      ("# only a comment\n", "1:1: the conversation is empty: it sends and expects nothing"),
      (
        "hello",
        "1:1: expected --> or <--, a connection's name before one, \"in any order\", @ or #"
      ),
      (
        "  -> {}",
        "1:3: expected --> or <--, a connection's name before one, \"in any order\", @ or #"
      ),
      (
        "1 --> {}",
        "1:1: expected --> or <--, a connection's name before one, \"in any order\", @ or #"
      ),
      ("-->", "1:4: expected JSON after -->, or close, end of input, raw or frame"),
      ("<--  ", "1:6: expected JSON after <--, or close, or nothing for SECONDS"),
      ("--> nothing", "1:5: expected JSON, or close, end of input, raw or frame"),
      ("<-- raw \"\"", "1:5: expected JSON, or close, or nothing for SECONDS"),
      ("--> {\"é\": 1,}", "1:13: not JSON: "),
      ("--> {} {}", "1:8: not JSON: "),
      ("--> {\"a\": [\n1,\n\n]", "2:3: not JSON: "),
      ("--> {\n<-- 1", "1:6: not JSON: "),
      ("--> close now", "1:11: expected the end of the line"),
      ("<-- nothing for", "1:16: expected a number of seconds, more than 0 and at most 3600"),
      ("<-- nothing for 0", "1:17: expected a number of seconds, more than 0 and at most 3600"),
      ("<-- nothing for long", "1:17: expected a number of seconds, more than 0 and at most 3600"),
      ("<-- nothing for 1 s", "1:19: expected the end of the line"),
      ("@wait 9999", "1:7: expected a number of seconds, more than 0 and at most 3600"),
      ("@wait 1.2.3", "1:7: expected a number of seconds, more than 0 and at most 3600"),
      ("@weight 1", "1:1: unknown directive; use @wait, @pause, @given, @server or @framing"),
      (
        "--> 1\n@server --test",
        "2:1: @server must be before all lines that send, expect or wait"
      ),
      (
        "--> 1\n@framing lines",
        "2:1: @framing must be before all lines that send, expect or wait"
      ),
      ("@framing both", "1:10: expected lines or headers"),
      ("@server 'a", "1:9: a quotation mark is not closed"),
      ("@server a\\", "1:9: no character follows the backslash at the end"),
      ("--> raw abc", "1:9: expected a string in quotation marks"),
      ("--> raw \"abc", "1:9: the string does not end in this line"),
      ("--> raw \"é\\q\"", "1:11: unknown escape; use a JSON escape or \\xHH"),
      ("--> raw \"\\xG0\"", "1:10: expected 2 hexadecimal digits"),
      ("--> raw \"\\u12\"", "1:10: expected 4 hexadecimal digits"),
      ("--> raw \"\\uD800\"", "1:10: an unpaired surrogate has no bytes; use \\xHH"),
      ("--> raw \"\\uD800\\u0041\"", "1:10: an unpaired surrogate has no bytes; use \\xHH"),
      ("--> raw \"a\" * 0", "1:15: expected a repetition count, for at most 64 MiB in total"),
      (
        "--> raw \"ab\" * 99999999",
        "1:16: expected a repetition count, for at most 64 MiB in total"
      ),
      ("--> raw \"a\" b", "1:13: expected the end of the line"),
      ("in any order\n<-- 1", "1:1: \"in any order\" has no \"end\""),
      ("in any order\nend", "2:4: \"in any order\" contains no message"),
      (
        "in any order\n--> 1\nend",
        "2:1: only messages with <-- can come in any order; is \"end\" missing?"
      ),
      (
        "in any order\n<-- nothing for 1\nend",
        "2:5: expected JSON, or close, or nothing for SECONDS"
      ),
      ("end", "1:1: \"end\" without \"in any order\" before it"),
      (
        "--> \"<id>\"",
        "1:6: <id> has no value yet; name it in an earlier line with <--, "
          + "or write <<id> for the text"
      ),
      (
        "<-- {\"a\": \"<id>\",\n  \"b\": \"x-<id>\"}",
        "1:12: <id> has no value yet; name it in an earlier line with <--, "
          + "or write <<id> for the text"
      ),
      ("--> \"<_>\"", "1:6: <_> is only allowed in expected messages; write <<_> for the text"),
      (
        "<-- \"<id>\"\n--> \"<id:string>\"",
        "2:6: <id:string> is only allowed in expected messages; write <<id:string> for the text"
      ),
      (
        "<-- \"a <_>\"",
        "1:8: <_> cannot be part of a longer string; write <<_> for the text"
      ),
      (
        "<-- \"<id:text>\"",
        "1:6: unknown kind \"text\"; known kinds are "
          + "string, number, integer, boolean, array, object, uuid"
      ),
    ])
  func faults(text: String, message: String) {
    let error = #expect(throws: ConversationError.self) { try conversation(text) }
    let description = error?.description ?? ""
    if message.hasSuffix("not JSON: ") {
      // The rest of the message comes from the JSON reader.
      #expect(description.hasPrefix("x.conversation:" + message))
    } else {
      #expect(description == "x.conversation:" + message)
    }
  }

  @Test("no text crashes the parser", arguments: 0..<8 as Range<UInt64>)
  func anything(seed: UInt64) {
    let parts = [
      "-->", "<--", " ", "\n", "{", "}", "[", "\"", "<id>", "<<", ":", ",", "in any order", "end",
      "@wait ", "@server ", "raw ", "frame ", "nothing for ", "close", "A ", "1", "\\", "\\x", "* ",
      "é",
      "\r", "\t", "#", "...", "\u{0}",
    ]
    var random = FixedNumbers(seed: seed)
    for _ in 0..<2_500 {
      let text = (0..<Int.random(in: 0...20, using: &random))
        .map { _ in parts.randomElement(using: &random) ?? "" }.joined()
      _ = try? ConversationParser.conversations(in: text.utf8, file: "x.conversation")
      _ = try? ConversationParser.conversations(in: text.utf8, file: "x.md")
    }
  }
}

extension Step {
  /// The step in one line.
  var shown: String {
    let what =
      switch action {
      case .send(.message(let pattern), let name): name.shown + "send \(pattern.spaced)"
      case .send(.frame(let bytes), let name): name.shown + "frame \(bytes)"
      case .send(.raw(let bytes), let name): name.shown + "raw \(bytes)"
      case .endInput(let name): name.shown + "end of input"
      case .close(let name): name.shown + "close"
      case .expect(let expectations):
        "expect "
          + expectations.map { $0.connection.shown + $0.pattern.spaced }.joined(separator: " | ")
      case .expectNothing(let name, let time): name.shown + "nothing for \(time.seconds)"
      case .expectClose(let name): name.shown + "expect close"
      case .wait(let time): "wait \(time.seconds)"
      case .pause(let time): "pause \(time.seconds)"
      }
    return "\(line) \(what)"
  }
}

extension String {
  fileprivate var shown: String { isEmpty ? "" : self + " " }
}
