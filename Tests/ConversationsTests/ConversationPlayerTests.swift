// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import Conversations

@Suite("Conversation player")
struct ConversationPlayerTests {
  /// Plays a text and checks that it passes.
  func checkPasses(_ text: String, on stage: Stage) async throws {
    let outcome = await stage.player.play(try conversation(text))
    #expect(outcome == .passed)
    #expect(await stage.areAllClosed())
  }

  /// Plays a text and checks the description of the failure, without the file name.
  func checkFails(_ text: String, on stage: Stage, _ description: String) async throws {
    let outcome = await stage.player.play(try conversation(text))
    guard case .failed(let failure) = outcome else {
      Issue.record("the conversation passed, but must fail with: \(description)")
      return
    }
    #expect(failure.description == "x.conversation:" + description)
    #expect(await stage.areAllClosed())
  }

  // MARK: Passing

  @Test("the player sends compact JSON and compares messages as data")
  func simple() async throws {
    let stage = Stage(["{\"result\":1.0,\"id\":1}"])
    try await checkPasses(
      """
      --> {"id": 1,
           "method": "a b"}
      <-- {"id": 1, "result": 1}
      """, on: stage)
    #expect(await stage.sent() == ["{\"id\":1,\"method\":\"a b\"}"])
  }

  @Test("the player uses the values of bound names")
  func binding() async throws {
    let stage = Stage(
      ["{\"id\":1,\"result\":{\"handle\":\"h7\",\"revision\":3}}"],
      ["{\"of\":\"h7\",\"at\":\"h7@3\",\"revision\":3}"])
    try await checkPasses(
      """
      --> {"id": 1}
      <-- {"id": 1, "result": {"handle": "<h:string>", "revision": "<r>"}}
      --> ["<h>", "<r>", "to <h> at <r>", "<<h>"]
      <-- {"of": "<h>", "at": "<h>@<r>", "revision": "<r>"}
      """, on: stage)
    #expect(
      await stage.sent() == ["{\"id\":1}", "[\"h7\",3,\"to h7 at 3\",\"<h>\"]"])
  }

  @Test("the player uses given values, and fails without them")
  func given() async throws {
    let text = "@given token\n--> [\"<token>\"]"
    var given = GivenValues()
    given["token"] = "t1"
    let stage = Stage([])
    #expect(await stage.player(given: given).play(try conversation(text)) == .passed)
    #expect(await stage.sent() == ["[\"t1\"]"])
    try await checkFails(
      text, on: Stage([]),
      """
      1: the conversation needs a value of <token>
        pass --given token=FILE, a file whose first line is the value
      """)
  }

  @Test("reports, transcripts and rewritten values show a given value by its name")
  func givenIsHidden() async throws {
    let text = """
      @given token
      @given pin
      --> {"token": "<token>", "path": "a/<token>/<pin>"}
      <-- {"id": "<id>", "name": "<token>", "pin": "<pin>", "text": "of <token>", "end": 1}
      """
    var given = GivenValues()
    given["token"] = "Größe\"7"
    given["pin"] = "12"
    let stage = Stage([
      #"{"id":1,"name":"is Größe\"7!","pin":"13","text":"x","end":"Gr\u00f6\u00dfe\"7","more":{"Größe\"7":["12",12,512]}}"#
    ])
    let player = stage.player(given: given)
    let played = await player.perform(try conversation(text), recording: false)
    let received =
      #"{"id": 1, "name": "is <token>!", "pin": "13", "text": "x", "end": "<token>", "more": {"<token>": ["<pin>", "<pin>", 512]}}"#
    guard case .failed(let failure) = played.outcome else {
      Issue.record("The conversation has passed.")
      return
    }
    #expect(
      failure.description == """
        x.conversation:4: the message is not the expected one
          expected  {"id": "<id>", "name": "<token>", "pin": "<pin>", "text": "of <token>", "end": 1}
          received  \(received)
          at /name: expected "<token>", received "is <token>!"
          at /pin: expected "<pin>", received "13"
          at /text: expected "of <token>", received "x"
          at /end: expected 1, received "<token>"
          at /more: not expected: {"<token>": ["<pin>", "<pin>", 512]}
          before that:
            --> {"token": "<token>", "path": "a/<token>/12"}
        """)
    #expect(
      played.transcript.lines.map { String(decoding: $0.bytes, as: UTF8.self) } == [
        #"--> {"token":"<token>","path":"a/<token>/12"}"#,
        "<-- " + (try JSONValue(parsing: Array(received.utf8)).description),
      ])
    let again = Stage([
      #"{"id":1,"name":"is Größe\"7!","pin":"12","text":"<Größe\"7 <b>","end":"Größe\"7","more":{"Größe\"7":1,"b":[12]}}"#
    ])
    let recorded = await again.player(given: given).record(try conversation(text))
    #expect(
      recorded.rewrites.map(\.text) == [
        #"{"id": "<id>", "name": "is <token>!", "pin": "<pin>", "text": "<<<token> <<b>", "end": "<token>", "more": {"b": ["<_:number>"], "...": "..."}}"#
      ])
  }

  @Test(
    "the player waits for pauses at the given speed",
    arguments: [
      (Pace.maximum, [Duration]()), (.factor(1), [.seconds(3)]),
      (.factor(2), [.milliseconds(1500)]),
    ])
  func pauses(pace: Pace, waits: [Duration]) async throws {
    let stage = Stage([])
    // No message is expected, so that the only waits are those of pauses and of the send.
    let player = ConversationPlayer(
      pace: pace,
      timer: { time in
        if time == ConversationPlayer.defaultWait { return await Gate().wait() }
        await stage.waited(time)
      }, connect: { try await stage.open($0) })
    #expect(await player.play(try conversation("@pause 3\n--> 1")) == .passed)
    #expect(await stage.waits == waits)
  }

  @Test("a speed is max, real or a factor")
  func speeds() {
    #expect(Pace("MAX") == .maximum)
    #expect(Pace("real") == .factor(1))
    #expect(Pace("0.5") == .factor(0.5))
    for text in ["", "0", "-1", "nan", "inf", "fast"] { #expect(Pace(text) == nil) }
  }

  @Test("the player sends frames and raw bytes unchanged")
  func verbatim() async throws {
    let stage = Stage([])
    try await checkPasses(
      """
      --> frame {"a: [
      --> frame "\\t\\u00e9\\ud83d\\ude00"
      --> frame "[]" * 3
      --> raw "Content-Length: 1\\r\\n\\r\\n" * 2
      --> end of input
      """, on: stage)
    #expect(
      await stage.sent() == [
        "{\"a: [", "\té😀", "[][][]",
        "raw Content-Length: 1\r\n\r\nContent-Length: 1\r\n\r\n", "end of input",
      ])
  }

  @Test("the player keeps several connections separate")
  func connections() async throws {
    let stage = Stage(["A": [[["1", "2"], ["5"]]], "B": [[["3"]]]])
    try await checkPasses(
      """
      A --> "a"
      B --> "b"
      B <-- 3
      A <-- 1
      A <-- 2
      A --> "c"
      A <-- 5
      """, on: stage)
    #expect(await stage.opened == ["A", "B"])
    #expect(await stage.sent(on: "A") == ["\"a\"", "\"c\""])
    #expect(await stage.sent(on: "B") == ["\"b\""])
  }

  @Test("the player opens a closed connection again")
  func reopening() async throws {
    let stage = Stage(["A": [[["1"]], [["2"]]]])
    try await checkPasses(
      """
      A --> "a"
      A <-- 1
      A --> close
      A --> "b"
      A <-- 2
      """, on: stage)
    #expect(await stage.opened == ["A", "A"])
    #expect(await stage.sent(on: "A") == ["\"a\"", "\"b\""])
  }

  @Test(
    "the player accepts the messages of a group in any order",
    arguments: [["1", "2", "3"], ["3", "1", "2"], ["2", "3", "1"], ["3", "2", "1"]])
  func groups(_ order: [String]) async throws {
    let stage = Stage(order.map { Reply.message($0) } + [.message("4")])
    try await checkPasses(
      """
      --> "go"
      in any order
        <-- 1
        <-- 2
        <-- 3
      end
      <-- 4
      """, on: stage)
  }

  @Test("the player assigns the messages of a group so that all names match")
  func groupNames() async throws {
    // The first message matches both lines, but only one assignment leaves a message for the
    // second.
    let stage = Stage(["A": [[["{\"n\":1,\"of\":8}", "{\"n\":2,\"of\":7}"]]], "B": [[["7"]]]])
    try await checkPasses(
      """
      A --> "go"
      B --> "go"
      in any order
        A <-- {"n": "<x>", "of": "<b>"}
        A <-- {"n": "<y>", "of": "<_>"}
        B <-- "<b>"
      end
      A --> ["<x>", "<y>", "<b>"]
      """, on: stage)
    #expect(await stage.sent(on: "A") == ["\"go\"", "[2,1,7]"])
  }

  @Test("the player can expect silence for a time and the end of a connection")
  func silence() async throws {
    let stage = Stage([], [.close])
    try await checkPasses(
      """
      --> 1
      <-- nothing for 0.25
      --> 2
      <-- close
      """, on: stage)
    #expect(await stage.waits.contains(.milliseconds(250)))
  }

  @Test("the player loses no message after it has waited for silence")
  func silenceBeforeMessage() async throws {
    let stage = Stage([], ["1"])
    try await checkPasses("--> 1\n<-- nothing for 1\n--> 2\n<-- 1", on: stage)
  }

  @Test("`@wait` sets the maximum wait from its line on")
  func waits() async throws {
    let stage = Stage([])
    try await checkFails(
      "@wait 0.5\n--> 1\n@wait 2\n<-- 1", on: stage,
      """
      4: no message came within 2 s
        expected  1
        before that:
          --> 1
      """)
    #expect(await stage.waits.last == .seconds(2))
    #expect(ConversationPlayer.defaultWait == .seconds(5))
  }

  // MARK: Failing

  @Test("another message is a failure that shows both messages and their differences")
  func mismatch() async throws {
    try await checkFails(
      """
      --> {"id": 1}

      <-- {"id": 1, "result": {"revision": 3, "todos": ["a"]}}
      """,
      on: Stage(["{\"id\":1,\"result\":{\"revision\":4,\"todos\":[\"a\",\"b\"]},\"x\":0}"]),
      """
      3: the message is not the expected one
        expected  {"id": 1, "result": {"revision": 3, "todos": ["a"]}}
        received  {"id": 1, "result": {"revision": 4, "todos": ["a", "b"]}, "x": 0}
        at /result/revision: expected 3, received 4
        at /result/todos/1: not expected: "b"
        at /x: not expected: 0
        before that:
          --> {"id": 1}
      """)
  }

  @Test("a different value for a bound name is a failure")
  func boundMismatch() async throws {
    try await checkFails(
      "--> 0\n<-- \"<id>\"\n<-- [\"<id>\"]", on: Stage(["\"x\"", "[\"y\"]"]),
      """
      3: the message is not the expected one
        expected  ["<id>"]
        received  ["y"]
        at /0: expected "x", which is <id>, received "y"
        before that:
          --> 0
          <-- "x"
      """)
  }

  @Test("a failure shows five differences and the last four messages")
  func shortened() async throws {
    try await checkFails(
      "--> 0\n<-- 1\n<-- 2\n<-- 3\n<-- 4\n<-- [1, 2, 3, 4, 5, 6, 7]",
      on: Stage(["1", "2", "3", "4", "[0,0,0,0,0,0,0]"]),
      """
      6: the message is not the expected one
        expected  [1, 2, 3, 4, 5, 6, 7]
        received  [0, 0, 0, 0, 0, 0, 0]
        at /0: expected 1, received 0
        at /1: expected 2, received 0
        at /2: expected 3, received 0
        at /3: expected 4, received 0
        at /4: expected 5, received 0
        and 2 more
        before that:
          <-- 1
          <-- 2
          <-- 3
          <-- 4
      """)
  }

  @Test("messages in another order are a failure, except in a group")
  func order() async throws {
    try await checkFails(
      "--> 0\n<-- 1\n<-- 2", on: Stage(["2", "1"]),
      """
      2: the message is not the expected one
        expected  1
        received  2
        at the message: expected 1, received 2
        before that:
          --> 0
      """)
  }

  @Test("a message that matches no line of a group is a failure")
  func groupMismatch() async throws {
    try await checkFails(
      """
      --> 0
      in any order
        <-- {"a": 1, "b": 2, "c": 0}
        <-- {"a": 2, "b": 3, "c": 0}
        <-- {"a": 3, "b": 4, "c": 0}
      end
      """,
      on: Stage(["{\"a\":1,\"b\":2,\"c\":0}", "{\"a\":3,\"b\":5,\"c\":0}"]),
      """
      5: the message is not one of the 2 expected ones; this one is the closest
        expected  {"a": 3, "b": 4, "c": 0}
        received  {"a": 3, "b": 5, "c": 0}
        at /b: expected 4, received 5
        before that:
          --> 0
          <-- {"a": 1, "b": 2, "c": 0}
      """)
  }

  @Test("a message of a group that comes twice is a failure")
  func groupRepetition() async throws {
    try await checkFails(
      "--> 0\nin any order\n<-- 1\n<-- 2\nend", on: Stage(["1", "1"]),
      """
      4: the message is not the expected one
        expected  2
        received  1
        at the message: expected 2, received 1
        before that:
          --> 0
          <-- 1
      """)
  }

  @Test("a missing message is a failure that shows what is missing")
  func timeout() async throws {
    try await checkFails(
      "--> 0\nin any order\n<-- 1\n<-- 2\n<-- 3\nend", on: Stage(["2"]),
      """
      3: no message came within 5 s
        expected  1
        expected  3
        before that:
          --> 0
          <-- 2
      """)
  }

  @Test("it is a failure if the server closes early or does not close")
  func closing() async throws {
    try await checkFails(
      "--> 0\n<-- 1", on: Stage([.close]),
      """
      2: the server closed the connection
        expected  1
        before that:
          --> 0
      """)
    try await checkFails(
      "--> 0\n<-- close", on: Stage([]),
      """
      2: the server did not close the connection within 5 s
        before that:
          --> 0
      """)
    try await checkFails(
      "--> 0\n<-- close", on: Stage(["1"]),
      """
      2: the server was expected to close the connection
        received  1
        before that:
          --> 0
      """)
  }

  @Test("a message where nothing is expected is a failure")
  func noSilence() async throws {
    try await checkFails(
      "--> 0\n<-- nothing for 1", on: Stage(["1"]),
      """
      2: expected nothing for 1 s
        received  1
        before that:
          --> 0
      """)
    try await checkFails(
      "--> 0\n<-- nothing for 1", on: Stage([.close]),
      """
      2: expected nothing for 1 s
        the server closed the connection
        before that:
          --> 0
      """)
  }

  @Test("a message that is not JSON is a failure")
  func notJSON() async throws {
    let outcome = await Stage(["{\"a\u{1}\n"]).player.play(try conversation("--> 0\n<-- 1"))
    guard case .failed(let failure) = outcome else {
      Issue.record("the conversation passed, but must fail")
      return
    }
    #expect(failure.line == 2)
    #expect(failure.summary == "the received message is not JSON")
    #expect(failure.details.prefix(2) == ["expected  1", "received  {\"a\\u0001\\n"])
  }

  @Test("it is a failure if a connection fails, cannot be opened or does not accept a message")
  func faults() async throws {
    try await checkFails(
      "--> 0\n--> 1", on: Stage([.fail("the cable is cut")]),
      """
      1: could not be sent
        because: the cable is cut
        before that:
          --> 0
      """)
    try await checkFails(
      "--> 0\n--> 1\n<-- 1", on: Stage([], ["2"]),
      """
      3: the message is not the expected one
        expected  1
        received  2
        at the message: expected 1, received 2
        before that:
          --> 0
          --> 1
      """)
    try await checkFails(
      "A --> 0", on: Stage([]),
      """
      1: the connection could not be opened
        because: there is no A
      """)
    try await checkFails(
      "@wait 2\n--> 0", on: Stage([.block]),
      """
      2: could not be sent within 2 s: the server does not read
        before that:
          --> 0
      """)
  }
}
