// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import TestSupport
import Testing

@testable import Conversations

/// Tests that play files against a small Python server, over pipes and sockets.
@Suite("Conversation run", .timeLimit(.minutes(15)))
struct ConversationRunTests {
  /// A server that sends every message back: by lines, or with headers after `--headers`; over a
  /// Unix socket if its path is an argument.
  static let echo = """
    import os, socketserver, sys
    class Echo(socketserver.StreamRequestHandler):
      def handle(self):
        for line in self.rfile: self.wfile.write(line)
    class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
      daemon_threads = True
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    if arguments: Server(arguments[0], Echo).serve_forever()
    while "--headers" in sys.argv:
      header, end = sys.stdin.buffer.readline(), sys.stdin.buffer.readline()
      if not end: break
      sys.stdout.buffer.write(header + end + sys.stdin.buffer.read(int(header.split(b":")[1])))
      sys.stdout.flush()
    if "--greet" in sys.argv: print('"hello"', flush=True)
    if "--process" in sys.argv: print(os.getpid(), flush=True)
    for line in sys.stdin: print(line, end="", flush=True)
    """
  static let command = ["python3", "-c", echo]

  /// Writes files, plays them and returns the report without the path of the folder.
  ///
  /// The maximum wait is long because a server may start slowly while all tests run in parallel.
  func run(
    _ command: ServerCommand, _ files: [(name: String, text: String)], isUpdating: Bool = false,
    repeats: Int = 1
  ) async throws -> (
    tally: ConversationRun.Tally, report: String, texts: [String], transcript: String
  ) {
    let folder = try TestFolder()
    let paths = files.map { "\(folder.path)/\($0.name)" }
    for (path, file) in zip(paths, files) {
      try file.text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    let lines = Record<String>()
    let run = ConversationRun(
      server: .command(command), wait: .seconds(60), isUpdating: isUpdating,
      transcript: folder.path + "/transcript", repeats: repeats
    ) { lines.add($0) }
    let tally = await run.play(paths)
    let texts = try paths.map { String(decoding: try TextFile.read($0), as: UTF8.self) }
    let transcript = String(decoding: try TextFile.read(folder.path + "/transcript"), as: UTF8.self)
    return (
      tally, lines.all.joined(separator: "\n").replacing(folder.path + "/", with: ""), texts,
      transcript.replacing(folder.path + "/", with: "")
    )
  }

  @Test("each conversation gets its own server, and the results are counted")
  func counts() async throws {
    let (tally, report, _, _) = try await run(
      ServerCommand(Self.command),
      [
        ("a.conversation", "@server --greet\n<-- \"hello\"\n--> 1\n<-- 1\n"),
        (
          "b.md",
          """
          # Two of them
          ```conversation
          --> {"a": 1}
          <-- {"a": 2}
          ```
          ```conversation
          --> {"a": 1}
          <-- {"a": 1}
          --> close
          --> 2
          <-- 2
          ```
          """
        ),
        ("c.conversation", "--> {\n"),
      ])
    #expect(tally.summary == "2 passed, 2 failed")
    #expect(tally.exitCode == 2)
    #expect(
      report.hasPrefix(
        """
        passed  a.conversation:1
        failed  b.md:3
          b.md:4: the message is not the expected one
            expected  {"a": 2}
            received  {"a": 1}
            at /a: expected 2, received 1
            before that:
              --> {"a": 1}
        passed  b.md:7
        failed  c.conversation:1:6: not JSON:
        """))
  }

  @Test("`@framing headers` selects framing by headers")
  func headers() async throws {
    let text = "@framing headers\n@server --headers\n--> {\"a\": \"b\"}\n<-- {\"a\": \"b\"}\n"
    let (tally, report, _, _) = try await run(
      ServerCommand(Self.command), [("a.conversation", text)])
    #expect(report == "passed  a.conversation:1")
    #expect(tally.exitCode == 0)
  }

  @Test("a conversation with several connections uses a server that listens")
  func listening() async throws {
    let text = "A --> 1\nB --> 2\nB <-- 2\nA <-- 1\nA --> close\nA --> 3\nA <-- 3\n"
    for command in [
      ServerCommand(Self.command, listening: ["{socket}"]),
      ServerCommand(Self.command + ["{socket}"]),
    ] {
      let (tally, report, _, _) = try await run(command, [("a.conversation", text)])
      #expect(report == "passed  a.conversation:1")
      #expect(tally.exitCode == 0)
    }
    let (tally, report, _, _) = try await run(
      ServerCommand(Self.command), [("a.conversation", text)])
    #expect(tally.exitCode == 1)
    #expect(
      report == """
        failed  a.conversation:1
          a.conversation:1: several connections need a server that listens: write {socket} where \
        its command names a Unix socket, or connect to a running one
        """)
  }

  @Test("a server that fails before it listens is reported immediately")
  func endsBeforeListening() async throws {
    let (tally, report, _, _) = try await run(
      ServerCommand(["sh", "-c", "exit 3", "{socket}"]), [("a.conversation", "A --> 1\nB --> 2\n")])
    #expect(tally.exitCode == 1)
    #expect(report.hasSuffix("because: the server has ended with an error"), "\(report)")
    // The standard output of a server that listens may be something else.
    let quiet = ServerCommand(["sh", "-c", #"exec "$@" >&2"#, "sh"] + Self.command + ["{socket}"])
    #expect(try await run(quiet, [("a.conversation", "A --> 1\nA <-- 1\n")]).0.exitCode == 0)
  }

  @Test("a missing file or server is reported")
  func missing() async throws {
    let lines = Record<String>()
    let run = ConversationRun(server: .command(ServerCommand(["/nowhere"]))) {
      lines.add($0)
    }
    #expect(await run.play(["/nowhere/x.conversation"]).exitCode == 2)
    #expect(lines.all.joined(separator: "\n").hasPrefix("failed  /nowhere/x.conversation: "))

    let (tally, report, _, _) = try await self.run(
      ServerCommand(["/nowhere"]), [("a.conversation", "# Line 1\n--> 1\n")])
    #expect(tally.exitCode == 1)
    #expect(
      report == """
        failed  a.conversation:1
          a.conversation:2: the connection could not be opened
            because: /nowhere could not be started: No such file or directory
        """)
  }

  @Test("a file is rewritten only with `isUpdating`")
  func updating() async throws {
    let file = ("a.conversation", "# One\n--> {\"a\": 1}\n<-- {\"a\": \"<_:string>\"}\n")
    let (tally, report, texts, _) = try await run(
      ServerCommand(Self.command), [file], isUpdating: true)
    #expect(tally.exitCode == 0)
    #expect(
      report == "passed  a.conversation:1\nupdated a.conversation: 1 of its expected values")
    #expect(texts == ["# One\n--> {\"a\": 1}\n<-- {\"a\": 1}\n"])
    #expect(try await run(ServerCommand(Self.command), [file]).texts == [file.1])
  }

  @Test("one transcript contains all conversations, each after its location")
  func transcripts() async throws {
    let (tally, _, _, transcript) = try await run(
      ServerCommand(Self.command),
      [
        ("a.conversation", "# One\n--> {\"a\": 1}\n<-- {\"a\": 1}\n"),
        ("b.md", "```conversation\n--> 1\n<-- 2\n```\n```conversation\n--> 3\n<-- 3\n```\n"),
      ])
    #expect(tally.summary == "2 passed, 1 failed")
    #expect(
      transcript == """
        # a.conversation:1
        --> {"a":1}
        <-- {"a":1}
        # b.md:2
        --> 1
        <-- 1
        # b.md:6
        --> 3
        <-- 3

        """)
  }

  @Test("if the transcript cannot be written, no conversation is played")
  func unwritableTranscript() async throws {
    let lines = Record<String>()
    let run = ConversationRun(
      server: .command(ServerCommand(Self.command)), transcript: "/nowhere/transcript"
    ) { lines.add($0) }
    #expect(await run.play(["x.conversation"]).exitCode == 2)
    #expect(
      lines.all.joined(separator: "\n") == "failed  /nowhere/transcript: No such file or directory")
  }

  @Test("with `repeats` a conversation is played on new servers and counted once")
  func repeating() async throws {
    let text = "@server --greet\nA <-- \"hello\"\nA --> 1\nA <-- 1\n"
    let (tally, report, _, transcript) = try await run(
      ServerCommand(Self.command), [("a.conversation", text)], repeats: 5)
    #expect(tally.summary == "1 passed, 0 failed")
    #expect(report == "passed  a.conversation:1, identical in 5 plays")
    #expect(transcript == "# a.conversation:1\nA <-- \"hello\"\nA --> 1\nA <-- 1\n")
  }

  @Test("the first play that differs is a failure that shows the first different line")
  func anotherWay() async throws {
    let text = "@server --process\n--> 1\n<-- \"<process:integer>\"\n<-- 1\n"
    let (tally, report, _, transcript) = try await run(
      ServerCommand(Self.command), [("a.conversation", text)], repeats: 100)
    #expect(tally.summary == "0 passed, 1 failed")
    #expect(tally.exitCode == 1)
    let lines = report.split(separator: "\n")
    #expect(
      lines.prefix(3) == [
        "failed  a.conversation:1",
        "  a.conversation:3: play 2 of 100 differs from the first",
        "    line 2 of the transcript",
      ])
    let first = try #require(transcript.split(separator: "\n").dropFirst(2).first)
    #expect(lines[3] == "    in play 1: \(first)")
    #expect(lines[4].hasPrefix("    in play 2: <-- ") && lines[4] != lines[3])
    #expect(lines.count == 5)
  }

  @Test("a failure after passing plays names the play")
  func failingLater() async throws {
    // Each play creates a file that the next one finds.
    let folder = try TestFolder()
    let program = """
      import os, sys
      marks = sys.argv[1]
      open(f"{marks}/{len(os.listdir(marks))}", "w").close()
      print("true" if len(os.listdir(marks)) < 3 else "false", flush=True)
      """
    let (tally, report, _, _) = try await run(
      ServerCommand(["python3", "-c", program, folder.path]), [("a.conversation", "<-- true\n")],
      repeats: 10)
    #expect(tally.summary == "0 passed, 1 failed")
    #expect(
      report == """
        failed  a.conversation:1
          a.conversation:1: the message is not the expected one
            expected  true
            received  false
            at the message: expected true, received false
            in play 3 of 10; the plays before it passed
        """)
  }
}
