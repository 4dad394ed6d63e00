// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import Foundation
internal import SQLiteFiles
internal import SQLiteSessionJournal
internal import Sessions
internal import StateMachines
internal import StatewireJSON

/// The command `journal` of a program: states that a server has kept aside because it could not read
/// them.
public struct JournalCommand<Program: ServerProgram>: AsyncParsableCommand {
  /// The name and the help of the command.
  public static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "journal",
      abstract: "Lists, exports, puts back and removes states that a server has kept aside.",
      discussion: """
        A state is kept aside if the server cannot read it when it restores a session, for example after an upgrade. The \
        server of the data folder must be stopped. A state has a name of the form SESSION/STORE@REVISION; SESSION is \
        the first 8 digits of the session's handle.
        """,
      subcommands: [List.self, Export.self, Restore.self, Remove.self])
  }

  /// Creates the command with its defaults.
  public init() {}

  /// The command `journal list`.
  struct List: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
      CommandConfiguration(
        commandName: "list",
        abstract: "Shows the sessions of the journal, and the states that are kept aside.")
    }

    @OptionGroup var place: Place

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    func run() async throws {
      try place.withJournal { journal in
        if json { try writeJSON(journal) } else { try show(journal) }
      }
    }

    private func show(_ journal: SQLiteJournal) throws {
      var count = 0
      try forEachPart(journal) { sessions in
        count += sessions.count
        if !sessions.isEmpty { Output.show(sessions.map(\.line).joined(separator: "\n")) }
      }
      let kept = try keptStates(journal).map { $0.state.line(hasEnded: $0.hasEnded) }
      let counts = "\(kept.count) states are kept aside, \(count) sessions"
      Output.show((kept + [counts]).joined(separator: "\n"))
    }

    private func writeJSON(_ journal: SQLiteJournal) throws {
      var text = Array(#"{"sessions":["#.utf8)
      var isFirst = true
      try forEachPart(journal) { sessions in
        for session in sessions {
          if !isFirst { text.append(UInt8(ascii: ",")) }
          isFirst = false
          text += session.listing.bytes
        }
        try Output.write(text)
        text = []
      }
      let kept = try keptStates(journal).map { $0.state.listing(hasEnded: $0.hasEnded) }
      try Output.writeLine(
        Array(#"],"kept":"#.utf8) + JSONValue.array(kept).bytes + Array("}".utf8))
    }

    /// Calls `body` with some of the sessions at a time: there may be more than fit into the memory.
    private func forEachPart(
      _ journal: SQLiteJournal, _ body: ([JournalContents.Session]) throws -> Void
    ) throws {
      var position: Int64?
      repeat {
        let part = try journal.sessions(after: position, limit: 1000)
        try body(part.sessions)
        position = part.next
      } while position != nil
    }

    private func keptStates(
      _ journal: SQLiteJournal
    ) throws -> [(state: KeptState, hasEnded: Bool)] {
      try journal.keptStates().map { state in
        defer { journal.forget([state.session]) }
        return (state, try journal.load(state.session).session == nil)
      }
    }
  }

  /// The command `journal export`.
  struct Export: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
      CommandConfiguration(
        commandName: "export", abstract: "Writes a state that is kept aside, as JSON.")
    }

    @Argument(help: "The name of the state, as list shows it.")
    var state: String

    @Option(help: "Write the state to this file instead of standard output.")
    var output: String?

    @OptionGroup var place: Place

    func run() async throws {
      let text = try place.withJournal { journal in
        try JSONValue(parsing: journal.keptStates().named(state).state, limits: .stored).indented
      }
      guard let output else { return try Output.write(Array(text.utf8)) }
      do {
        try text.write(to: URL(filePath: output), atomically: true, encoding: .utf8)
      } catch {
        throw StartupError("cannot write \(output)", cause: error)
      }
    }
  }

  /// The command `journal restore`.
  struct Restore: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
      CommandConfiguration(
        commandName: "restore",
        abstract: "Makes a state that is kept aside the state of its store.",
        discussion: """
          The present state of the store is kept aside instead. The program checks that it can read the state, if it has \
          the kind of the store. The state stays in the list until it is removed.
          """)
    }

    @Argument(help: "The name of the state, as list shows it.")
    var state: String

    @Option(help: "Use the JSON in this file as the state. (default: the state as it was kept)")
    var file: String?

    @Option(
      help: "The version of the machine that has encoded the state. (default: as it was kept)")
    var version: Int?

    @OptionGroup var place: Place

    func validate() throws {
      if let version, version < 1 { throw ValidationError("--version is at least 1") }
    }

    func run() async throws { try place.withJournal(restore) }

    private func restore(_ journal: SQLiteJournal) throws {
      var kept = try journal.keptStates().named(state)
      if let version { kept.version = version }
      if let file { kept.state = try Self.read(file) }
      let value = try JSONValue(parsing: kept.state, limits: .stored)
      let isChecked = try check(value, kept)
      let now = SystemClock().sinceEpoch
      let revision: Revision
      do {
        var contents = JournalContents()
        contents.sessions += [try journal.load(kept.session).session].compactMap { $0 }
        let back = try contents.puttingBack(kept, at: now)
        try journal.commit(back.entries)
        revision = back.revision
      } catch JournalContents.PuttingBackError.sessionEnded {
        throw StartupError("the session of \(state) has ended; use export")
      } catch JournalContents.PuttingBackError.otherKind(let kind) {
        throw StartupError("the store of \(state) is of kind \(kind) now; use export")
      }
      let note = isChecked ? "" : "; not checked, because this program has no kind \(kept.kind)"
      Output.show("store \(kept.store) continues in this state at revision \(revision)\(note)")
    }

    private static func read(_ file: String) throws -> [UInt8] {
      do {
        return Array(try Data(contentsOf: URL(filePath: file)))
      } catch {
        throw StartupError("cannot read \(file)", cause: error)
      }
    }

    /// Checks that the kind of the store can read the state.
    ///
    /// - Returns: False if the program does not have the kind.
    private func check(_ state: JSONValue, _ kept: KeptState) throws -> Bool {
      let kinds = try Program.kinds.described(folder: place.dataDir)
      guard let kind = kinds.last(where: { $0.name == kept.kind }) else { return false }
      do {
        try kind.checkState(
          state, version: kept.version,
          configuration: JSONValue(parsing: kept.configuration, limits: .stored))
      } catch {
        throw StartupError("kind \(kept.kind) cannot read the state: \(error)")
      }
      return true
    }
  }

  /// The command `journal remove`.
  struct Remove: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
      CommandConfiguration(
        commandName: "remove",
        abstract: "Removes a state that is kept aside; it cannot be put back then.")
    }

    @Argument(help: "The name of the state, as list shows it.")
    var state: String

    @OptionGroup var place: Place

    func run() async throws {
      try place.withJournal { journal in
        let kept = try journal.keptStates().named(state)
        try journal.commit([JournalEntry(kept.session, .keptRemoved(kept.key))])
      }
      Output.show("\(state) was removed")
    }
  }

  /// The place of the journal.
  struct Place: ParsableArguments {
    @Option(help: "Folder of the server's data.")
    var dataDir: String

    /// Calls `body` with the journal of a server that is stopped; its folder is locked meanwhile.
    func withJournal<Result>(_ body: (SQLiteJournal) throws -> Result) throws -> Result {
      guard SQLiteJournal.exists(in: dataDir) else {
        throw StartupError(
          "\(dataDir) has no session journal; pass the folder of --data-dir of the server")
      }
      let lock = try FolderLock(folder: dataDir)
      defer { withExtendedLifetime(lock) {} }
      // A server may have promised that its commits survive a loss of power.
      let journal = try SQLiteJournal(folder: dataDir, durability: .power)
      for sentence in try journal.start().damage { Output.writeError(sentence) }
      return try body(journal)
    }
  }
}
