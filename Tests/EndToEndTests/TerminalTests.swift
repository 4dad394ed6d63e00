// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireJSON
import TestSupport
import Testing

/// The story: a todo called `Milk\u001b]2;PWNED\u001b\\\u001b[2J` set the title of a terminal and
/// cleared it.
@Suite("Output on a terminal", .timeLimit(.minutes(15)))
struct TerminalTests {
  /// An escape character, a C1 control, a change of the text direction, a line separator and a
  /// delete.
  private static let hostile = "\u{1b}]2;x\u{7}\u{9b}2J\u{202e}\u{2028}\u{7f}"
  private static let escaped = #"\u001b]2;x\u0007\u009b2J\u202e\u2028\u007f"#

  private func checkHarmless(
    _ text: String, shows expected: String? = escaped,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(text == text.printableLines, sourceLocation: sourceLocation)
    if let expected {
      #expect(text.contains(expected), "\(text)", sourceLocation: sourceLocation)
    }
  }

  /// Returns the output of a command on a new terminal, with `\n` as line ends.
  private func onTerminal(_ arguments: [String]) throws -> String {
    let spawn = "import pty, sys; pty.spawn(sys.argv[1:])"
    let result = try Program.run(
      ["python3", "-c", spawn, Program.path] + arguments, input: "", program: "/usr/bin/env")
    return result.output.replacing("\r\n", with: "\n")
  }

  /// Returns a conversation in which a todo has a hostile title and the last expectation fails.
  private func conversation(_ last: String) -> String {
    #"""
    @server --test
    --> {"jsonrpc": "2.0", "id": 1, "method": "store/send", "params": {"store": "todo", "input": {"type": "stateRequested"}, "settle": true}}
    <-- {"jsonrpc": "2.0", "id": 1, "result": {"revision": 1, "changed": true}}
    --> {"jsonrpc": "2.0", "id": 2, "method": "store/subscribe", "params": {"store": "todo"}}
    <-- {"jsonrpc": "2.0", "id": 2, "result": "<_>"}
    --> {"jsonrpc": "2.0", "id": 3, "method": "store/send", "params": {"store": "todo", "input": {"type": "todoAdded", "title": "\#(Self.escaped)"}, "settle": true}}
    <-- \#(last)
    """# + "\n"
  }

  @Test(
    "a signal ends a program whose output is not read",
    arguments: [
      // More than a terminal and a pipe hold.
      ["serve"], ["record", "--output", "/dev/null", "--", "PROGRAM", "serve"],
      // A program that does not end, and one whose output another process holds.
      [
        "record", "--output", "/dev/null", "--", "sh", "-c",
        "trap '' TERM; while :; do timeout 60 tail -f /dev/null; done",
      ],
      [
        "record", "--output", "/dev/null", "--", "sh", "-c",
        "timeout 60 tail -f /dev/null & exec PROGRAM serve",
      ],
    ])
  func unreadOutput(_ arguments: [String]) throws {
    let script = """
      import os, pty, signal, subprocess, sys, time
      master, slave = pty.openpty()
      process = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=slave, stderr=subprocess.DEVNULL)
      request = b'{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}\\n'
      os.set_blocking(process.stdin.fileno(), False)
      process.stdin.write(request * 8)
      process.stdin.flush()
      # Its first output shows that it runs; one that has none has started in this time.
      import select
      select.select([master], [], [], 5)
      process.send_signal(signal.SIGTERM)
      process.wait(60)
      """
    let words = arguments.map { $0.replacing("PROGRAM", with: Program.path) }
    let result = try Program.run(
      ["python3", "-c", script, Program.path] + words, input: "", program: "/usr/bin/env")
    #expect(result.status == 0, "\(result.errors)")
  }

  @Test("conversations with --verbose and failures show control characters as escapes")
  func play() throws {
    let folder = try TestFolder()
    let file = folder.path + "/a.conversation"
    try conversation((["title": .string(Self.hostile)] as JSONValue).description)
      .write(toFile: file, atomically: true, encoding: .utf8)
    let result = try Program.run(["play", file, "--verbose"], input: "")
    #expect(result.status == 1)
    checkHarmless(result.output)
    #expect(result.output.contains("received"))
    // The transcript has the original characters, except on a terminal.
    let shown = try onTerminal(["play", file, "--transcript", "/dev/stdout"])
    checkHarmless(shown)
    _ = try Program.run(["play", file, "--transcript", folder.path + "/t"], input: "")
    let transcript = try String(contentsOfFile: folder.path + "/t", encoding: .utf8)
    #expect(transcript.contains(#"\u001b]2;x\u0007"# + "\u{9b}2J\u{202e}"))
  }

  @Test("an updated conversation has the received messages exactly")
  func update() throws {
    let folder = try TestFolder()
    let file = folder.path + "/a.conversation"
    try conversation(#"{"jsonrpc": "2.0", "method": "store/changed", "params": 0}"#)
      .write(toFile: file, atomically: true, encoding: .utf8)
    let result = try Program.run(
      ["play", file], input: "", environment: ["UPDATE_CONVERSATIONS": "1"])
    checkHarmless(result.output, shows: "updated")
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(text.contains(#"\u001b]2;x\u0007"# + "\u{9b}2J\u{202e}\u{2028}\u{7f}"))
    #expect(try Program.run(["play", file], input: "").status == 0)
  }

  @Test("JSON is unchanged for a pipe, and escaped with the same meaning for a terminal")
  func json() throws {
    let folder = try TestFolder()
    let (old, new) = (folder.path + "/old", folder.path + "/new")
    let value = JSONValue.array([.string(Self.hostile)])
    try "[]".write(toFile: old, atomically: true, encoding: .utf8)
    try value.description.write(toFile: new, atomically: true, encoding: .utf8)
    for arguments in [["canonical", new], ["diff", old, new]] {
      let piped = try Program.run(["json"] + arguments, input: "").output
      #expect(piped.contains("\u{9b}2J\u{202e}\u{2028}\u{7f}"))
      let shown = try onTerminal(["json"] + arguments)
      checkHarmless(shown)
      #expect(try JSONValue(parsing: shown) == JSONValue(parsing: piped))
    }
  }

  @Test(
    "names of files are shown with escapes",
    arguments: [
      ["json", "check", "NAME"], ["json", "canonical", "NAME"], ["json", "diff", "NAME", "NAME"],
      ["play", "NAME"], ["play", "--transcript", "NAME/x", "a"], ["serve", "--token-file", "NAME"],
      ["serve", "--data-dir", "/dev/null/NAME"],
      ["serve", "--web-root", "NAME", "--web", "127.0.0.1:0"],
      ["serve", "--source", "a=file:x", "--source-dir", "NAME"], ["serve", "--tcp", "NAME"],
      ["serve", "--tls-cert", "NAME", "--tls-key", "NAME", "--tcp", "127.0.0.1:0"],
      ["schema", "--output", "NAME"], ["--NAME"], ["NAME"], ["ledger", "post", "NAME"],
    ])
  func names(_ arguments: [String]) throws {
    let result = try Program.run(
      arguments.map { $0.replacing("NAME", with: Self.hostile + "\n") }, input: "")
    #expect(result.status != 0)
    checkHarmless(result.output + result.errors, shows: "u001b")
  }

  @Test("the name of a valid file is shown with escapes, on one line")
  func good() throws {
    let folder = try TestFolder()
    let name = folder.path + "/a\u{1b}]2;x\n\u{9b}: ok"
    try "[]".write(toFile: name, atomically: true, encoding: .utf8)
    let result = try Program.run(["json", "check", name], input: "")
    #expect(result.output == #"\#(folder.path)/a\u001b]2;x\n\u009b: ok: ok"# + "\n")
  }

  @Test("logs show names of clients, stores and sources with escapes, and one event per line")
  func logs() throws {
    let client =
      #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"client":{"name":"\#(Self.escaped)\n"}}}"#
    let open =
      #"{"jsonrpc":"2.0","id":2,"method":"store/open","params":{"store":"\#(Self.escaped)","kind":"loading","#
      + #""config":{"type":"source","name":"a"}}}"#
    let load =
      #"{"jsonrpc":"2.0","id":3,"method":"store/send","params":{"store":"\#(Self.escaped)","settle":true,"#
      + #""input":{"type":"load"}}}"#
    let folder = try TestFolder()
    let result = try Program.run(
      [
        "serve", "--log-level", "trace", "--data-dir", folder.path, "--source-dir", folder.path,
        "--source", "a=file:\(Self.hostile)",
      ], input: [client, open, load].joined(separator: "\n"))
    #expect(result.status == 0)
    checkHarmless(result.errors)
    #expect(result.errors.contains("initialized a client"))
    #expect(result.errors.contains("an operation failed"))
    let lines = result.errors.split(separator: "\n")
    #expect(lines.allSatisfy { $0.contains(" statewire") }, "\(lines)")
  }
}
