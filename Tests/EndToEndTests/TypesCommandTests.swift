// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import TestSupport
import Testing

@Suite("statewire types", .timeLimit(.minutes(15)))
struct TypesCommandTests {
  @Test("generates the files of the clients of this project")
  func ownClients() throws {
    for (language, file) in [
      ("python", "clients/python/src/statewire/types.py"),
      ("typescript", "clients/javascript/types.d.ts"),
    ] {
      let file = TestedPackage.root.appending(path: file).path
      let result = try Program.run([
        "types", "--protocol", "--language", language, "--check", "--output", file,
      ])
      #expect(result.status == 0, "run make client-types")
    }
  }

  @Test("describes a running server, for which a token may be needed")
  func connected() async throws {
    let folder = try TestFolder()
    let (socket, tokens, token) = (
      folder.file("socket"), folder.file("tokens"), folder.file("token")
    )
    try Data("someone a-token-of-some-length\n".utf8).write(to: URL(filePath: tokens))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: tokens)
    try Data("a-token-of-some-length\n".utf8).write(to: URL(filePath: token))
    let server = try await ClientConnection.spawn(
      [
        Program.path, "serve", "--stdio", "--unix", socket, "--token-file", tokens, "--data-dir",
        folder.path + "/data",
      ], framing: .lines)
    // The sockets are open when the server responds.
    try await server.send(Array(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.utf8))
    _ = try await server.receive()

    let command = ["types", "--language", "python", "--kinds", "form", "--connect", socket]
    let refused = try Program.run(command)
    #expect(refused.status == 1)
    #expect(refused.errors.contains("pass --token-file"), "\(refused.errors)")
    let connected = try Program.run(command + ["--token-file", token])
    #expect(connected.status == 0, "\(connected.errors)")
    let own = try Program.run(["types", "--language", "python", "--kinds", "form"])
    #expect(own.status == 0 && own.output.contains("FORM: Kind[FormInput, FormState]"))
    #expect(connected.output == own.output)
    await server.close()
  }

  @Test("writes a file, and finds differences with --check")
  func files() throws {
    let folder = try TestFolder()
    let file = folder.file("form.ts")
    let command = [
      "types", "--language", "typescript", "--kinds", "form,balance", "--output", file,
    ]
    #expect(try Program.run(command + ["--check"]).status == 1)
    let written = try Program.run(command)
    #expect(written.status == 0 && written.output.isEmpty)
    #expect(try Program.run(command + ["--check"]).status == 0)
    #expect(try String(contentsOfFile: file, encoding: .utf8).contains("export type FormInput"))
    let schema = try Program.run(["schema"]).output
    let read = try Program.run(
      command.dropLast(2) + ["--schema", "-"], input: schema)
    #expect(try read.output == String(contentsOfFile: file, encoding: .utf8))
  }

  @Test(
    "refuses what it cannot use, with the cause",
    arguments: [
      (["--schema", "/no/such/file"], "", 1, "cannot read /no/such/file: No such file"),
      (["--schema", "-"], "{", 1, "standard input is not JSON"),
      (["--schema", "-"], "{}", 1, "standard input: it is not an OpenRPC document"),
      (["--connect", "/no/such/socket"], "", 1, "/no/such/socket"),
      (["--kinds", "eaten"], "", 1, "there is no kind \"eaten\"; the kinds are: todo, addTodo"),
      (["--kinds", "form,"], "", 64, "empty name"),
      (["--connect", "nowhere"], "", 64, "--connect must be"),
      (["--connect", "a:1", "--schema", "-"], "", 64, "not both"),
      (["--check"], "", 64, "--check requires --output"),
      (["--package", "a.b"], "", 64, "requires --language kotlin"),
      (["--protocol", "--kinds", "form"], "", 64, "without --kinds"),
      (["--token-file", "t"], "", 64, "require --connect"),
      (["--output", "/no/such/folder/a"], "", 1, "cannot write /no/such/folder/a"),
    ] as [([String], String, Int32, String)])
  func refusals(_ options: [String], _ input: String, _ status: Int32, _ cause: String) throws {
    let result = try Program.run(["types", "--language", "python"] + options, input: input)
    #expect(result.status == status)
    #expect(result.errors.contains(cause), "\(result.errors)")
    #expect(result.output.isEmpty)
  }
}
