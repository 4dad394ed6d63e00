// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import Foundation
internal import StatewireJSON

/// The command `schema` of a program: a description of the server for programs.
public struct SchemaCommand<Program: ServerProgram>: AsyncParsableCommand {
  public static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "schema",
      abstract: "Describes the server: methods, notifications, errors and stores.",
      discussion: """
        Writes the OpenRPC document that rpc.discover answers with. PROTOCOL.md says what is in it.
        """)
  }

  @Flag(help: "Write the JSON Schemas alone, as one schema whose definitions they are.")
  var jsonSchema = false

  @Option(
    help: ArgumentHelp(
      "Write openrpc.json and schema.json into this folder.", valueName: "folder"))
  var output: String?

  public init() {}

  public func run() async throws {
    let description = ServerDescription(kinds: try Program.kinds.described())
    guard let output else {
      let document = jsonSchema ? description.jsonSchema : description.openRPC
      try Output.write(Array(document.indented.utf8))
      return
    }
    for (name, document) in [
      ("openrpc.json", description.openRPC), ("schema.json", description.jsonSchema),
    ] {
      let file = URL(filePath: output).appending(path: name)
      do {
        try document.indented.write(to: file, atomically: true, encoding: .utf8)
      } catch {
        throw StartupError("\(file.path) cannot be written", cause: error)
      }
    }
  }
}
