// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import Foundation
internal import StatewireJSON

/// The command `schema` of a program: a description of the server for programs.
public struct SchemaCommand<Program: ServerProgram>: AsyncParsableCommand {
  /// The name and the help of the command.
  public static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "schema",
      abstract: "Describes the server: methods, notifications, errors and stores.",
      discussion: """
        Writes the OpenRPC document that rpc.discover returns. PROTOCOL.md describes its contents.
        """)
  }

  @Flag(help: "Write only the JSON Schemas, as the definitions of one schema.")
  var jsonSchema = false

  @Option(
    help: ArgumentHelp(
      "Write openrpc.json and schema.json to this folder instead of standard output.",
      valueName: "folder"))
  var output: String?

  @OptionGroup var programs: StoreProgramOptions

  /// Creates the command with its defaults.
  public init() {}

  /// Writes the description.
  ///
  /// - Throws: `StartupError` if a file or standard output cannot be written, or a store program does
  ///   not describe itself.
  public func run() async throws {
    let description = try await programs.description(with: Program.kinds)
    for warning in description.warnings { Output.writeError("warning: \(warning)") }
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
        throw StartupError("cannot write \(file.path)", cause: error)
      }
    }
  }
}
