// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import StatewireJSON
import StatewireServer

/// `statewire json`: what the program's own JSON does, for a closer look.
struct JSONCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "json",
    abstract: "Checks, normalises, patches and compares JSON files.",
    subcommands: [Check.self, Canonical.self, Patch.self, Diff.self]
  )

  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Tells of each file whether it is JSON, and if not, where the fault is.")

    @Argument(help: "The files; - is standard input.")
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

  struct Canonical: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "canonical",
      abstract:
        "Writes a file in the form of RFC 8785; to a terminal, with control characters escaped.")

    @Argument(help: "The file; - is standard input.")
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

  struct Patch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "patch",
      abstract: "Applies an RFC 6902 patch to a document, all of it or nothing.")

    @Argument(help: "The document.")
    var document: String

    @Argument(help: "The patch.")
    var patch: String

    func run() async throws {
      try JSONFile.reportingFaults {
        let document = try JSONFile(document).value()
        let file = try JSONFile(patch)
        let value = try file.value()
        let result = try file.naming { () throws(JSONError) in
          try JSONPatch(value).apply(to: document)
        }
        try Output.writeLine(result.jsonBytes())
      }
    }
  }

  struct Diff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "diff",
      abstract: "Writes the RFC 6902 patch that leads from one document to another.")

    @Argument(help: "The document before.")
    var old: String

    @Argument(help: "The document after.")
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
