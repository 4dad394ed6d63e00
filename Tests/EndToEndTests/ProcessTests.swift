// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import ServerCore
import StatewireJSON
import TestSupport
import Testing
import Transports

@Suite("The program as a process", .timeLimit(.minutes(15)))
struct ProcessTests {
  @Test("the program responds to every line of a file, and ends after it")
  func regularFile() throws {
    let folder = try TestFolder()
    let lines = (1...100).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"ping"}"# }
    let result = try Program.run(
      ["serve", "--data-dir", folder.path], input: lines.joined(separator: "\n"))
    #expect(result.status == 0)
    #expect(result.lines == (1...100).map { #"{"jsonrpc":"2.0","id":\#($0),"result":{}}"# })
    #expect(result.errors == "")
  }

  /// It waited for the reader, and with it all clients.
  @Test("the program responds while nothing reads its log", arguments: ["text", "json"])
  func unreadLog(format: String) throws {
    let folder = try TestFolder()
    let process = Process()
    // It ends also if it waits for this test.
    process.executableURL = URL(filePath: "/usr/bin/timeout")
    process.arguments = [
      "300", Program.path, "serve", "--data-dir", folder.path, "--log-level", "trace",
      "--log-format", format,
    ]
    let (input, output, errors) = (Pipe(), Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    for number in 1...1_000 {
      try input.fileHandleForWriting.write(
        contentsOf: Array((request(number, ["type": "stateRequested"]) + "\n").utf8))
      _ = try output.fileHandleForReading.read(untilLineWith: "\"id\":\(number)")
    }
    // A process of another test may hold the end of the input, too, so that its end would not be seen.
    for method in [#""id":1,"method":"shutdown""#, #""method":"exit""#] {
      try input.fileHandleForWriting.write(
        contentsOf: Array("{\"jsonrpc\":\"2.0\",\(method)}\n".utf8))
    }
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    withExtendedLifetime(errors) {}
  }

  @Test("the program responds once to a stream of another protocol, and executes nothing")
  func foreignProtocol() throws {
    let folder = try TestFolder()
    let add = request(1, ["type": "todoAdded", "title": "Milk"])
    for (beginning, expected) in [
      ("POST / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 400 "), ("help\n", "-32700"),
    ] {
      let result = try Program.run(
        ["serve", "--data-dir", folder.path], input: beginning + add + "\n")
      #expect(result.status == 0)
      #expect(result.output.contains(expected), "\(result)")
      #expect(!result.output.contains("\"result\""), "\(result)")
    }
  }

  @Test("the program keeps a list from one process to the next")
  func persistence() throws {
    let folder = try TestFolder()
    let titles = ["Milk", "Brot \u{1F35E}", "e\u{301} and é", "\"quoted\"\\"]
    for (index, title) in titles.enumerated() {
      let input = JSONValue.object([
        "type": "todoAdded", "title": .string(title),
      ])
      let result = try Program.run(
        ["serve", "--data-dir", folder.path], input: request(index, input))
      #expect(result.status == 0)
      #expect(result.lines.last?.contains("\"result\"") == true, "\(result)")
    }
    let after = try Program.run(
      ["serve", "--data-dir", folder.path],
      input: #"{"jsonrpc":"2.0","id":0,"method":"store/subscribe","params":{"store":"todo"}}"#
        + "\n" + request(1, ["type": "stateRequested"]))
    let frame = try #require(after.lines.dropFirst().first)
    let value = try JSONValue(parsing: frame)
    let todos = try #require(value[JSONPointer(parsing: "/params/patch/0/value/todos")]?.array)
    #expect(todos.compactMap { $0["title"] } == titles.map { .string($0) })
  }

  @Test(
    "a start that fails causes a one-sentence error",
    arguments: [
      (["--data-dir", "/dev/null/x"], "/dev/null/x"),
      (["--tcp", "192.0.2.1:0"], "pass --insecure"),
      (["--tcp", "192.0.2.1:0"], "without a token and without encryption"),
      (["--insecure", "--tcp", "192.0.2.1:0"], "cannot listen"),
      (["--tcp", "0.0.0.0:0", "--token-file", "/dev/null"], "without encryption; pass --tls-cert"),
      (
        ["--tcp", "[::]:0", "--tls-cert", "x", "--tls-key", "x"],
        "without a token; pass --token-file"
      ),
      (["--tls-cert", "x"], "requires --tls-key"),
      (["--tls-key", "x"], "requires --tls-cert"),
      (["--tls-client-ca", "x"], "requires --tls-cert"),
      (["--tls-cert", "x", "--tls-key", "x"], "requires --tcp"),
      (
        ["--tcp", "127.0.0.1:0", "--tls-cert", "/none", "--tls-key", "x"],
        "the certificate in /none cannot be used"
      ),
      (["--token-file", "/dev/null"], "the tokens in /dev/null cannot be used: the file contains"),
      (["--token-file", "/none"], "the tokens in /none cannot be read"),
      (["--idle-time=-1"], "The time must be from 0"),
      (["--idle-time", "-1"], "The time must be from 0"),
      (["--maximum-inputs-per-second=-1"], "The limit must be at least 0"),
      (["--maximum-stores", "-1"], "The limit must be at least 1"),
      (["--time-zone", "-nonsense"], "-nonsense"),
      (["--unix", "/dev/null"], "the file is not a socket"),
      (["--maximum-depth", "0"], "The limit must be at least 1"),
      (["--tcp", "nonsense"], "nonsense"),
      (["--source", "nonsense"], "NAME=URL"),
      (["--source", "a=http://user:SECRET@h"], "must not hold a user name or a password"),
      (["--balance-url", "http://user:SECRET@h"], "must not hold a user name or a password"),
    ])
  func startupErrors(arguments: [String], expected: String) throws {
    let result = try Program.run(["serve"] + arguments, input: "")
    #expect(result.status != 0)
    #expect(result.output == "")
    #expect(result.errors.contains(expected), "\(result.errors)")
    #expect(!result.errors.contains("SECRET"))
  }

  /// With standard input and output, the server opens the database while it serves the first
  /// requests.
  @Test(
    "the program ends with the reason if the database cannot be opened",
    arguments: [[], ["--tcp", "127.0.0.1:0"]])
  func damagedDatabase(options: [String]) throws {
    let folder = try TestFolder()
    try "no database".write(
      to: folder.url.appending(path: "statewire.sqlite"), atomically: true, encoding: .utf8)
    let result = try Program.run(
      ["serve", "--data-dir", folder.path] + options,
      input: #"{"jsonrpc":"2.0","id":1,"method":"ping"}"# + "\n")
    #expect(result.status == 1)
    #expect(
      result.errors
        == "Error: The file \(folder.path)/statewire.sqlite is not a database or is damaged: "
        + "restore a backup, or move it away.\n")
  }

  /// swiftlang/swift#76080: with such a library, `serve` printed its help and ended with status 0.
  @Test(
    "the program gets its arguments when a preloaded library changes the environment early")
  func preloadedLibrary() throws {
    let folder = try TestFolder()
    // The C++ library calls this before Swift's library is initialised.
    let library = """
      #include <stdlib.h>
      #include <string.h>
      extern char **environ;
      char *getenv(const char *name) {
        static int called;
        if (!called++) setenv("EARLY", "1", 1);
        size_t length = strlen(name);
        for (char **entry = environ; entry && *entry; entry++)
          if (!strncmp(*entry, name, length) && (*entry)[length] == '=') return *entry + length + 1;
        return 0;
      }
      __attribute__((constructor)) static void early(void) { getenv("EARLY"); }
      """
    try library.write(toFile: folder.path + "/early.c", atomically: true, encoding: .utf8)
    let result = try Program.script(
      """
      clang -shared -fPIC -o early.so early.c || exit 9
      echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' |
        LD_PRELOAD=$PWD/early.so $statewire serve --data-dir 'a b' --log-level=debug
      LD_PRELOAD=$PWD/early.so $statewire '' 'no such word'
      """, in: folder)
    #expect(result.lines == [#"{"jsonrpc":"2.0","id":1,"result":{}}"#])
    #expect(FileManager.default.fileExists(atPath: folder.path + "/a b"))
    #expect(
      result.errors.contains("Unexpected argument ''") || result.errors.contains("no such word"))
  }

  @Test(
    "the program exits with the code that the Language Server Protocol specifies",
    arguments: [(["shutdown"], 0), ([], 1)] as [([String], Int32)])
  func exit(before: [String], status: Int32) async throws {
    let folder = try TestFolder()
    let stdio = try await ClientConnection.spawn(
      [
        "sh", "-c", #""$@"; echo $? >"$0""#, folder.path + "/status", Program.path, "serve",
        "--data-dir", folder.path,
      ], framing: .headers)
    for method in before {
      try await stdio.send(Array(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)"}"#.utf8))
      let response = try #require(try await stdio.receive())
      #expect(try JSONValue(parsing: response)["result"]?.isNull == true)
    }
    // The program's input stays open.
    try await stdio.send(Array(#"{"jsonrpc":"2.0","method":"exit"}"#.utf8))
    #expect(try await stdio.receive() == nil)
    await stdio.close()
    #expect(try String(contentsOfFile: folder.path + "/status", encoding: .utf8) == "\(status)\n")
  }

  @Test("`exit` does not end a server that other clients can reach")
  func exitOfOne() async throws {
    let folder = try TestFolder()
    let socket = folder.path + "/socket"
    let stdio = try await ClientConnection.spawn(
      [Program.path, "serve", "--stdio", "--unix", socket, "--data-dir", folder.path],
      framing: .lines)
    let exit = Array(#"{"jsonrpc":"2.0","method":"exit"}"#.utf8)
    let ping = Array(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.utf8)
    try await stdio.send(ping)
    _ = try await stdio.receive()
    let first = try await ClientConnection.connect(to: .unix(path: socket), framing: .lines)
    let second = try await ClientConnection.connect(to: .unix(path: socket), framing: .lines)
    // A client without a first request is disconnected after a while.
    for client in [first, second] {
      try await client.send(ping)
      _ = try await client.receive()
    }
    try await first.send(exit)
    #expect(try await first.receive() == nil)
    try await stdio.send(exit)
    #expect(try await stdio.receive() == nil)
    try await second.send(ping)
    #expect(try await second.receive() != nil)
    await first.close()
    await second.close()
    await stdio.close()
  }

  @Test("--time-zone accepts an offset that begins with a minus", arguments: ["-05:00", "=-05:00"])
  func timeZone(_ argument: String) throws {
    let words = argument.hasPrefix("=") ? ["--time-zone\(argument)"] : ["--time-zone", argument]
    let result = try Program.run(
      ["serve", "--test"] + words,
      input:
        #"{"jsonrpc":"2.0","id":1,"method":"store/send","params":{"store":"balance","settle":true,"#
        + #""input":{"type":"viewDidAppear"}}}"# + "\n"
        + #"{"jsonrpc":"2.0","id":2,"method":"store/subscribe","params":{"store":"balance"}}"#)
    #expect(result.output.contains("Last update: Today, 6:01:48 AM."), "\(result)")
  }

  @Test(
    "the program leaves no temporary files, whether it starts or not",
    arguments: [
      (["--unix", "/dev/null"], false),
      (["--source", "a=file:x", "--source-dir", "/dev/null/x"], false),
      (["--source", "a=http://x", "--source", "a=http://y"], false),
      ([], true),
    ])
  func temporaryFiles(arguments: [String], starts: Bool) throws {
    let folder = try TestFolder()
    let result = try Program.run(
      ["serve", "--test"] + arguments, input: request(1, ["type": "stateRequested"]),
      environment: ["TMPDIR": folder.path])
    #expect((result.status == 0) == starts, "\(result)")
    // The test's own files, such as `input`, are in another folder.
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test("with only standard input and output, sessions expire as well")
  func expiry() throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    // So that a failing test ends.
    process.arguments = [
      "timeout", "60", Program.path, "serve", "--session-time", "1", "--log-level", "debug",
    ]
    let (input, errors) = (Pipe(), Pipe())
    (process.standardInput, process.standardError) = (input, errors)
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let lines = [
      #"{"jsonrpc":"2.0","id":1,"method":"session/open"}"#,
      #"{"jsonrpc":"2.0","id":2,"method":"store/open","params":{"store":"a","kind":"loading","#
        + #""config":{"type":"mock","states":[{"after":1000,"state":{"type":"idle"}}]}}}"#,
      #"{"jsonrpc":"2.0","id":3,"method":"store/send","params":{"store":"a","input":{"type":"load"}}}"#,
      #"{"jsonrpc":"2.0","id":4,"method":"session/detach"}"#,
    ]
    try input.fileHandleForWriting.write(
      contentsOf: Data(lines.map { $0 + "\n" }.joined().utf8))
    _ = try errors.fileHandleForReading.read(untilLineWith: "cancelled")
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  @Test("at the end of input, the program completes all requests")
  func graceful() async throws {
    let folder = try TestFolder()
    let client = try await ClientConnection.spawn(
      [Program.path, "serve", "--data-dir", folder.path], framing: .lines)
    for index in 1...20 {
      try await client.send(Array(request(index, ["type": "todoAdded", "title": "x"]).utf8))
    }
    try await client.closeInput()
    var responses = 0
    while let message = try await client.receive() {
      if try JSONValue(parsing: message)["result"] != nil { responses += 1 }
    }
    #expect(responses == 20)
    await client.close()
  }

  @Test("a Unix socket is accessible only to its owner, and to one server at a time")
  func unixSocket() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/socket"
    let server = try await Server.start(kinds: [], listeners: [.unix(path: path)])
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    await #expect(throws: StartupError.self) {
      _ = try await Server.start(kinds: [], listeners: [.unix(path: path)])
    }
    let client = try await ClientConnection.connect(to: .unix(path: path), framing: .headers)
    try await client.send(Array(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.utf8))
    #expect(try await client.receive() == Array(#"{"jsonrpc":"2.0","id":1,"result":{}}"#.utf8))
    await client.close()
    await server.stop()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test(
    "the program fails if it cannot write its output",
    arguments: [
      (["schema"], "Error: standard output cannot be written\n"),
      (["ledger", "balance"], "Error: standard output cannot be written\n"),
      (
        ["serve"],
        "cannot write to standard output, and unwritten output is lost: No space left"
      ),
    ])
  func fullOutput(arguments: [String], says: String) throws {
    let folder = try TestFolder()
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    let script = "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}' | \"$@\" >/dev/full"
    process.arguments = ["-c", script, "sh", Program.path] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["XDG_STATE_HOME": folder.path]
    ) { $1 }
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus != 0)
    let errorOutput = try errors.fileHandleForReading.readToEnd() ?? Data()
    // A log line begins with the time.
    let text = String(decoding: errorOutput, as: UTF8.self)
    #expect(arguments == ["serve"] ? text.contains(says) : text == says)
  }

  @Test("a server does not remove a Unix socket that another server has created at its path")
  func otherSocket() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/socket"
    let server = try await Server.start(kinds: [], listeners: [.unix(path: path)])
    try FileManager.default.removeItem(atPath: path)
    let other = try await Server.start(kinds: [], listeners: [.unix(path: path)])
    await server.stop()
    #expect(FileManager.default.fileExists(atPath: path))
    await other.stop()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("a connection over the limit is refused with the reason")
  func tooManyConnections() async throws {
    var limits = ServerLimits()
    limits.connections = 1
    // Without a timeout, because the machine may be slow.
    limits.timeToFirstRequest = nil
    let server = try await Server.start(
      kinds: [], settings: ServerSettings(limits: limits),
      listeners: [.tcp(host: "127.0.0.1", port: 0)])
    let address = server.addresses[0]
    let ping = Array(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.utf8)
    let first = try await ClientConnection.connect(to: address, framing: .lines)
    try await first.send(ping)
    #expect(try await first.receive() != nil)
    let second = try await ClientConnection.connect(to: address, framing: .lines)
    let refusal = try JSONValue(parsing: try #require(try await second.receive()))
    #expect(refusal[try JSONPointer(parsing: "/error/data/limit")] == "connections")
    #expect(try await second.receive() == nil)
    await second.close()
    try await first.send(ping)
    #expect(try await first.receive() != nil)
    await first.close()
    await server.stop()
  }

  private func request(_ id: Int, _ input: JSONValue) -> String {
    let request = JSONValue.object([
      "jsonrpc": "2.0", "id": .number(JSONNumber(id)), "method": "store/send",
      "params": .object(["store": "todo", "settle": true, "input": input]),
    ])
    return String(decoding: request.jsonBytes(), as: UTF8.self)
  }
}
