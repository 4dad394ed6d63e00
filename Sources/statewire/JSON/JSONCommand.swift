// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StatewireJSON
import StatewireServer

/// The command `statewire json`: applies the JSON functions of the program to files.
struct JSONCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "json",
    abstract: "Checks, normalises, patches and compares JSON files.",
    subcommands: [Check.self, Canonical.self, Patch.self, Diff.self]
  )

  /// The command `statewire json check`; it ends with 1 if a file is not JSON.
  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Checks whether each file is JSON, and shows the place of the first fault.")

    @Argument(help: "Files; - is standard input.")
    var files: [String]

    func run() async throws {
      var isGood = true
      for file in files {
        do {
          let file = try JSONFile(file)
          try file.check()
          Output.show("\(file.name): ok")
        } catch let fault as JSONFile.Fault {
          isGood = false
          Output.show(fault.description)
        }
      }
      if !isGood { throw ExitCode(1) }
    }
  }

  /// The command `statewire json canonical`.
  struct Canonical: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "canonical",
      abstract:
        "Writes a file in canonical form (RFC 8785); on a terminal, control characters are escaped."
    )

    @Argument(help: "File; - is standard input.")
    var file: String

    func run() async throws {
      try JSONFile.reportingFaults {
        let file = try JSONFile(file)
        let value = try file.value()
        try Output.write(
          try file.naming { () throws(JSONError) in try JSON.canonical(value) })
      }
    }
  }

  /// The command `statewire json patch`.
  struct Patch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "patch",
      abstract: "Applies a JSON Patch (RFC 6902) to a document, completely or not at all.")

    @Argument(help: "Document; - is standard input.")
    var document: String

    @Argument(help: "Patch; - is standard input.")
    var patch: String

    func run() async throws {
      try JSONFile.reportingFaults {
        let document = try JSONFile(document).value()
        let file = try JSONFile(patch)
        let result = try file.naming { () throws(JSONError) in
          try JSONPatch(parsing: file.bytes, limits: JSONFile.limits).apply(to: document)
        }
        try Output.writeLine(result.jsonBytes())
      }
    }
  }

  /// The command `statewire json diff`.
  struct Diff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "diff",
      abstract: "Writes the JSON Patch (RFC 6902) from one document to another.")

    @Argument(help: "Old document; - is standard input.")
    var old: String

    @Argument(help: "New document; - is standard input.")
    var new: String

    func run() async throws {
      try JSONFile.reportingFaults {
        let patch = JSONPatch.difference(
          from: try JSONFile(old).value(), to: try JSONFile(new).value())
        try Output.writeLine(patch.value.jsonBytes())
      }
    }
  }
}
