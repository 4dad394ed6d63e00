// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BuiltinKinds
import EmbeddedStorage
import Foundation
import ServerCore
import Sessions
import StatewireJSON

/// `statewire schema`: what the server is, for programs.
struct SchemaCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Describes the server: methods, notifications, errors and stores.",
    discussion: """
      Writes the OpenRPC document that rpc.discover answers with. PROTOCOL.md says what is in it.
      """)

  @Flag(help: "Write the JSON Schemas alone, as one schema whose definitions they are.")
  var jsonSchema = false

  @Option(
    help: ArgumentHelp(
      "Write openrpc.json and schema.json into this folder.", valueName: "folder"))
  var output: String?

  func run() async throws {
    let description = Self.description
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
        throw JSONFile.Fault(description: "\(file.path) cannot be written")
      }
    }
  }

  /// Of the server that `statewire serve` is.
  static var description: ServerDescription {
    // Opened when a store asks for it, which none does here.
    let database = EmbeddedDatabase(folder: "") { _ in }
    return ServerDescription(
      kinds: StoreKind.builtin(lists: database.todoLists, balance: database.ledger))
  }
}
