// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import ServerCore
import StatewireJSON
import TestSupport
import Testing
import Transports

@Suite("Signals", .timeLimit(.minutes(15)))
struct SignalTests {
  // The script waits for its child and writes the status, which only a parent gets, to a file. The
  // child's log goes to another file, which may be a named pipe.
  private static let script = """
    folder=$1; shift
    exec 3<&0
    "$@" <&3 3<&- 2>"$folder/errors" &
    echo $! >"$folder/pid"
    wait $!
    echo $? >"$folder/status"
    """

  // The load takes half a second, and open requests have three seconds after the signal. So the
  // request is open when the signal arrives.
  private static let open =
    #"{"jsonrpc":"2.0","id":1,"method":"store/open","params":{"store":"a","kind":"loading","config":"#
    + #"{"type":"mock","states":[{"state":{"type":"loading","progress":null}},"#
    + #"{"after":0.5,"state":{"type":"loaded","value":7}}]}}}"#
  private static let subscribe =
    #"{"jsonrpc":"2.0","id":2,"method":"store/subscribe","params":{"store":"a","format":"state"}}"#
  private static let load =
    #"{"jsonrpc":"2.0","id":3,"method":"store/send","params":{"store":"a","settle":true,"#
    + #""input":{"type":"load"}}}"#

  @Test(
    "after a signal, open requests on every stream are completed, and the program exits with 0",
    arguments: [SIGTERM, SIGINT, SIGHUP])
  func inHand(signal: CInt) async throws {
    let folder = try TestFolder()
    #expect(mkfifo(folder.file("errors"), 0o600) == 0)
    let stdio = try await ClientConnection.spawn(
      [
        // The process that runs the tests may ignore SIGHUP.
        "env", "--default-signal=HUP", "sh", "-c", Self.script, "sh", folder.path, Program.path,
        "serve", "--stdio",
        "--tcp", "127.0.0.1:0", "--data-dir", folder.path + "/data",
      ], framing: .lines)
    let address = try address(log(folder))
    try await begin(stdio)
    let tcp = try await ClientConnection.connect(to: address, framing: .headers)
    try await begin(tcp)

    let pid = try #require(pid_t(try contents(folder, "pid")))
    #expect(kill(pid, signal) == 0)
    for client in [stdio, tcp] {
      let last = try await lastMessage(client)
      #expect(last["id"] == 3 && last["result"]?["changed"] == true, "\(last)")
    }
    #expect(try contents(folder, "status") == "0")
    await tcp.close()
    await stdio.close()
  }

  /// Starts a server whose configuration file is a named pipe, and returns when it waits for the contents.
  private func startReading(
    _ pipe: String
  ) throws -> (process: Process, errors: FileHandle, contents: FileHandle) {
    #expect(mkfifo(pipe, 0o600) == 0)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["--default-signal=HUP", Program.path, "serve", "--config", pipe]
    let errors = Pipe()
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, errors)
    try process.run()
    // Opening it waits for the reader.
    let contents = try FileHandle(forWritingTo: URL(filePath: pipe))
    return (process, errors.fileHandleForReading, contents)
  }

  @Test("SIGHUP while the server reads its options reloads them when it has started")
  func earlyReload() throws {
    let folder = try TestFolder()
    let file = folder.file("statewire.yaml")
    let (process, errors, contents) = try startReading(file)
    #expect(kill(process.processIdentifier, SIGHUP) == 0)
    let text = Data("tcp: 127.0.0.1:0\n".utf8)
    try contents.write(contentsOf: text)
    try contents.close()
    _ = try errors.read(untilLineWith: "listening on")
    let again = try FileHandle(forWritingTo: URL(filePath: file))
    try again.write(contentsOf: text)
    try again.close()
    _ = try errors.read(untilLineWith: "reloaded the configuration; changed: nothing")
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
  }

  @Test(
    "a signal while the server reads its options ends it with 0", arguments: [SIGTERM, SIGINT])
  func early(signal: CInt) throws {
    let folder = try TestFolder()
    let (process, errors, contents) = try startReading(folder.file("statewire.yaml"))
    #expect(kill(process.processIdentifier, signal) == 0)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    withExtendedLifetime((errors, contents)) {}
  }

  @Test("a warning about the options that nothing reads does not end the server")
  func unreadWarning() throws {
    let folder = try TestFolder()
    let file = folder.file("statewire.yaml")
    try "balance-url: http://127.0.0.1:1/\n".write(toFile: file, atomically: true, encoding: .utf8)
    #expect(chmod(file, 0o644) == 0)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["--default-signal=PIPE", Program.path, "serve", "--config", file]
    let (input, output, errors) = (Pipe(), Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    process.standardError = errors
    try errors.fileHandleForReading.close()
    try process.run()
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    withExtendedLifetime(output) {}
  }

  @Test("an interrupted play command leaves no server and no temporary folder")
  func cutShort() throws {
    let folder = try TestFolder()
    let temporary = folder.path + "/t"
    try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
    let file = folder.path + "/waiting.conversation"
    try "@wait 600\n--> {\"jsonrpc\":\"2.0\",\"method\":\"ping\"}\n<-- {}\n"
      .write(toFile: file, atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(filePath: Program.path)
    process.arguments = [
      "play", file, "--spawn", "\(Program.path) serve --unix {socket} --data-dir {folder}",
    ]
    process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": temporary]) { $1 }
    let errors = Pipe()
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, errors)
    try process.run()
    _ = try errors.fileHandleForReading.read(untilLineWith: "listening on")
    process.terminate()
    // The stream ends when the server has ended as well.
    _ = try errors.fileHandleForReading.readToEnd()
    process.waitUntilExit()
    #expect(process.terminationStatus == 128 + SIGTERM)
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
  }

  // Nothing told the operator that responses were lost.
  @Test(
    "the log has the clients that have not read everything when the server ends",
    arguments: [[], ["--stdio", "--tcp", "127.0.0.1:0"]], [20_000, 1_000])
  func unread(options: [String], count: Int) throws {
    let process = Process()
    process.executableURL = URL(filePath: Program.path)
    process.arguments = ["serve"] + options
    let (input, output, errors) = (Pipe(), Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    process.standardError = errors
    try process.run()
    let open =
      #"{"jsonrpc":"2.0","id":1,"method":"store/open","params":{"store":"a","kind":"todo","config":{"memory":{"count":COUNT}}}}"#
      .replacing("COUNT", with: "\(count)")
    let load =
      #"{"jsonrpc":"2.0","method":"store/send","params":{"store":"a","settle":true,"input":{"type":"stateRequested"}}}"#
    let states = (2...5).map {
      #"{"jsonrpc":"2.0","id":\#($0),"method":"store/state","params":{"store":"a"}}"#
    }
    input.fileHandleForWriting.write(Data(([open, load] + states).map { $0 + "\n" }.joined().utf8))
    // Of the first response, so the server has received the requests.
    #expect(try output.fileHandleForReading.read(upToCount: 100)?.count == 100)
    process.terminate()
    let log = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let lines = String(decoding: log, as: UTF8.self)
    #expect(lines.contains("connections are cut off"), "\(lines)")
    withExtendedLifetime((input, output)) {}
  }

  @Test("after SIGHUP, clients whose token was removed are notified and closed")
  func revoked() async throws {
    let folder = try TestFolder()
    let file = folder.url.appending(path: "tokens")
    try "me 0123456789abcdef\n".write(to: file, atomically: true, encoding: .utf8)
    let client = try await ClientConnection.spawn(
      [
        "sh", "-c", Self.script, "sh", folder.path, Program.path, "serve",
        "--token-file", file.path,
      ], framing: .lines)
    let initialize =
      #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"token":"0123456789abcdef"}}"#
    try await client.send(Array(initialize.utf8))
    let response = try #require(try await client.receive())
    #expect(try JSONValue(parsing: response)["result"] != nil)

    try "you 123456789abcdef0\n".write(to: file, atomically: true, encoding: .utf8)
    let pid = try #require(pid_t(try contents(folder, "pid")))
    #expect(kill(pid, SIGHUP) == 0)
    #expect(try await lastMessage(client)["error"]?["code"] == -32016)
    await client.close()
  }

  @Test(
    "at the end of the server, cancelled work of a session is not logged", arguments: [true, false])
  func quietly(isAttached: Bool) async throws {
    let folder = try TestFolder()
    #expect(mkfifo(folder.file("errors"), 0o600) == 0)
    let stdio = try await ClientConnection.spawn(
      [
        "sh", "-c", Self.script, "sh", folder.path, Program.path, "serve", "--stdio",
        "--tcp", "127.0.0.1:0", "--data-dir", folder.path + "/data",
      ], framing: .lines)
    let log = try log(folder)
    let tcp = try await ClientConnection.connect(to: try address(log), framing: .lines)
    // The database has a feed for the list as long as a store shows it.
    for message in [
      #"{"jsonrpc":"2.0","id":1,"method":"session/open"}"#,
      #"{"jsonrpc":"2.0","id":2,"method":"store/send","params":{"store":"todo","settle":true,"#
        + #""input":{"type":"stateRequested"}}}"#,
    ] {
      try await tcp.send(Array(message.utf8))
      _ = try await tcp.receive()
    }
    if !isAttached { await tcp.close() }
    let pid = try #require(pid_t(try contents(folder, "pid")))
    #expect(kill(pid, SIGTERM) == 0)
    #expect(try await lastMessage(stdio) == .null)
    #expect(try contents(folder, "status") == "0")
    let remainder = try log.readToEnd().map { String(decoding: $0, as: UTF8.self) }
    #expect(remainder ?? "" == "")
    await tcp.close()
    await stdio.close()
  }

  /// Sends a request that takes a while, and returns when it has begun.
  private func begin(_ client: ClientConnection) async throws {
    for message in [Self.open, Self.subscribe, Self.load] {
      try await client.send(Array(message.utf8))
    }
    while let message = try await client.receive() {
      let value = try JSONValue(parsing: message)
      if value["method"] == "store/changed" { return }
    }
    Issue.record("the load has not begun")
  }

  /// Returns the last message before the end of the connection.
  private func lastMessage(_ client: ClientConnection) async throws -> JSONValue {
    var last = JSONValue.null
    while let message = try await client.receive() { last = try JSONValue(parsing: message) }
    return last
  }

  /// Returns the child's log, a named pipe. The child waits until it is opened.
  private func log(_ folder: TestFolder) throws -> FileHandle {
    try FileHandle(forReadingFrom: folder.url.appending(path: "errors"))
  }

  /// Reads a log until the server reports its address.
  private func address(_ log: FileHandle) throws -> ServerAddress {
    let line = try log.read(untilLineWith: "listening on ").line
    return try #require(
      line.split(separator: " ").last.flatMap { ServerAddress(String($0)) }, "\(line)")
  }

  private func contents(_ folder: TestFolder, _ name: String) throws -> String {
    try String(contentsOf: folder.url.appending(path: name), encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
