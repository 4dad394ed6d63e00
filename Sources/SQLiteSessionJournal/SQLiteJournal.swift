// SPDX-License-Identifier: Apache-2.0

public import SQLiteFiles
public import Sessions

/// The session journal in its own SQLite file, `sessions.sqlite`.
///
/// A turn becomes one transaction:
///
/// | entry | written to |
/// |---|---|
/// | `step` | one row of `step` per store: patches, updates and the sequences of their inputs |
/// | `state` | `state`; the rows of `step` that are no longer needed are removed |
/// | `accepted` | `accepted`, until the input is settled |
/// | any other | `session`, `store` or `mark`: small rows that are overwritten |
///
/// An input that changes a store therefore adds one row to one page, and the size of the file
/// depends only on the current content of the sessions.
///
/// A session is found by its handle, and read when it is loaded. Columns of `session` with an index
/// find those whose time is over and those with work to continue. In memory are the loaded sessions
/// only.
///
/// Every row has a checksum. The consequence of a damaged row depends on its content:
/// - Patch: the store returns to the state before it, under a new revision, because one revision
///   must not stand for two states.
/// - Update: the earlier updates of the store are lost.
/// - Revisions or sequences: the session ends.
///
/// The readable part is then written to a new file. When the new file is complete it replaces the
/// damaged one, which is kept in the same folder.
///
/// One thread at a time and one process use a journal; the caller has locked the folder.
public final class SQLiteJournal: SessionJournal {
  /// The number of pages in the write-ahead log that triggers a checkpoint.
  ///
  /// Without syncing, a checkpoint of these 4 MiB takes 3 ms on a busy machine. Twice as many pages
  /// take twice as long; with half as many, frequently used pages are written twice as often.
  static let pagesOfLog = 1000
  /// The maximum number of ended sessions whose handles are kept.
  static let endedCount: Int64 = 10_000

  private let file: JournalFile
  var folder: String { file.folder }
  /// Nil if crashes are not counted.
  private let crashFile: CrashFile?
  var database: JournalDatabase
  /// Sentences about what happened to the file during opening.
  private var damage: [String] = []
  private(set) var index: JournalIndex?
  private var nextCheckpoint = SQLiteJournal.pagesOfLog

  /// Opens the journal of a folder; creates it if it does not exist.
  ///
  /// - Parameters:
  ///   - folder: The folder of the file; created with mode 0700 if it does not exist.
  ///   - durability: The failures that commits survive.
  ///   - countsCrashes: True to set a session aside after its restored work has crashed the process
  ///     twice in succession. This installs signal handlers in front of the existing ones; at most
  ///     one journal of a process may do so.
  /// - Throws: The reason, as one sentence. A file that is not a journal is not an error: it is
  ///   moved away, and the damage that `load()` or `start()` returns reports it.
  public convenience init(
    folder: String, durability: Durability = .process, countsCrashes: Bool = false
  ) throws(StorageError) {
    try self.init(
      folder: folder, durability: durability, countsCrashes: countsCrashes,
      steps: JournalSchema.steps)
  }

  init(
    folder: String, durability: Durability, countsCrashes: Bool = false, steps: [String]
  ) throws(StorageError) {
    file = JournalFile(folder: folder, durability: durability, steps: steps)
    let (database, moved) = try file.open()
    self.database = database
    crashFile = countsCrashes ? try CrashFile(folder: folder) : nil
    if let moved { damage.append(moved) }
  }

  /// Returns true if a folder has the file of a journal.
  public static func exists(in folder: String) -> Bool { JournalFile.exists(in: folder) }

  /// The crash counter; nil if crashes are not counted.
  public var crashes: (any CrashCounter)? { crashFile }

  /// Writes the entries as one transaction; see `SessionJournal`.
  ///
  /// - Throws: `StorageError`; nothing has been written in that case.
  public func commit(_ entries: [JournalEntry]) throws {
    if index == nil { _ = try start() }
    guard let index, !entries.isEmpty else { return }
    do {
      try repairing { try JournalTurn(database: database, index: index).write(entries) }
    } catch {
      throw StorageError(journal: error, in: file.folder)
    }
    checkpointIfDue()
  }

  /// Reads the whole journal; see `SessionJournal`. A damaged file is replaced.
  ///
  /// - Throws: `StorageError` other than damage.
  public func load() throws -> JournalContents {
    do {
      var reader = try JournalReader(database: database)
      try reader.read()
      index = reader.index
      var contents = reader.contents
      if !contents.damage.isEmpty || database.mustBeReplaced {
        let moved = try salvage(contents)
        contents.damage.append(JournalFile.isNew(insteadOf: moved))
      }
      countLoad(contents.loads)
      contents.damage = damage + contents.damage
      damage = []
      if let crashFile { setAside(&contents, by: crashFile) }
      return contents
    } catch {
      throw StorageError(journal: error, in: file.folder)
    }
  }

  /// Reads what a server needs before its first client; see `SessionJournal`.
  ///
  /// - Complexity: O(size of the journal) if a part that is read is damaged.
  /// - Throws: `StorageError` other than damage.
  public func start() throws -> JournalStart {
    do {
      guard !database.mustBeReplaced else { return try startOfRest() }
      var reader = try JournalReader(database: database)
      var start = try reader.readStart(crashed: crashFile?.setAside ?? [])
      guard reader.contents.damage.isEmpty else {
        // The damage may be in an index, which the reading of everything does not use.
        database.mustBeReplaced = true
        return try startOfRest()
      }
      index = reader.index
      countLoad(reader.contents.loads)
      start.damage = damage
      damage = []
      if let crashFile { noteUnreadable(crashFile, in: &start.damage) }
      return start
    } catch {
      throw StorageError(journal: error, in: file.folder)
    }
  }

  /// Reads the whole damaged journal and replaces the file.
  private func startOfRest() throws -> JournalStart {
    let contents = try load()
    keepLoaded(Set(contents.sessions.lazy.filter(\.isSetAside).map(\.handle)))
    return contents.start
  }

  /// Reads one session; see `SessionJournal`. A damaged file is replaced.
  ///
  /// - Throws: `StorageError` other than damage.
  public func load(_ session: SessionHandle) throws -> LoadedSession {
    do {
      guard let index else { return LoadedSession(session: nil) }
      let found: JournaledSession?
      do throws(SQLiteFailure) {
        found = try index.session(session)
      } catch {
        guard error.isDamage else { throw error }
        return try loadRepaired(session, index)
      }
      guard let found else {
        return LoadedSession(session: nil, ended: try index.ended(session))
      }
      let record = JournaledSession(id: found.id, row: found.row, isLoaded: true)
      var reader = JournalReader(database: database, index: index)
      let read = try reader.read(record)
      guard reader.contents.damage.isEmpty else { return try loadRepaired(session, index) }
      index.sessions[session] = record
      var loaded = LoadedSession(session: read)
      swap(&loaded.damage, &damage)
      return loaded
    } catch {
      throw StorageError(journal: error, in: file.folder)
    }
  }

  /// Removes sessions from memory; see `SessionJournal`.
  public func forget(_ sessions: [SessionHandle]) {
    for session in sessions { index?.sessions[session] = nil }
  }

  /// Reads the whole journal after damage was found while the server runs, replaces the file, and
  /// returns one session.
  private func loadRepaired(
    _ handle: SessionHandle, _ index: JournalIndex
  ) throws -> LoadedSession {
    let used = Set(index.sessions.keys)
    var reader = try JournalReader(database: database)
    try reader.read()
    let contents = reader.contents
    let moved = try salvage(contents)
    var loaded = contents.loaded(handle)
    loaded.damage = contents.damage + [JournalFile.isNew(insteadOf: moved)]
    let whole = Set(contents.sessions.lazy.map(\.handle)).subtracting(reader.damagedSessions)
    loaded.incomplete = used.subtracting(whole).subtracting([handle])
    keepLoaded(used.union([handle]))
    return loaded
  }

  /// Removes all other sessions from memory.
  private func keepLoaded(_ sessions: Set<SessionHandle>) {
    guard let index else { return }
    index.sessions = index.sessions.filter { sessions.contains($0.key) }
  }

  /// Calls `body`, and again with new indexes if it has found damage.
  ///
  /// If the damage stays, the next start reads the whole journal and replaces the file.
  func repairing<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let damaged as SQLiteFailure where damaged.isDamage {
      do {
        try database.replaceIndexes()
        let result = try body()
        damage.append("The indexes of the session journal were damaged; they are built again.")
        return result
      } catch {
        try file.mark.noteDamage()
        throw damaged
      }
    }
  }

  private func setAside(_ contents: inout JournalContents, by crashes: CrashFile) {
    for index in contents.sessions.indices {
      contents.sessions[index].isSetAside = crashes.isSetAside(contents.sessions[index].handle)
    }
    noteUnreadable(crashes, in: &contents.damage)
  }

  private func noteUnreadable(_ crashes: CrashFile, in damage: inout [String]) {
    if crashes.unreadableLines > 0 {
      damage.append(
        """
        \(crashes.unreadableLines) lines of \(file.folder)/\(CrashFile.name) cannot be read and are ignored. Delete the \
        file to remove them; the next start then also restores the sessions that are set aside.
        """)
    }
  }

  /// Writes the readable part to a new file.
  ///
  /// - Returns: The new path of the damaged file.
  private func salvage(_ contents: JournalContents) throws -> String {
    let new = try file.openNew()
    let index = try JournalIndex(new)
    for entries in contents.entries { try JournalTurn(database: new, index: index).write(entries) }
    try new.checkpoint()
    new.close()
    database.close()
    let moved: String
    do throws(StorageError) {
      (database, moved) = try file.replace()
    } catch {
      // The journal continues in the file that exists.
      (database, _) = try file.open()
      throw error
    }
    index.database = database
    self.index = index
    return moved
  }

  /// Stores the load count where a truncated log cannot revert it.
  private func countLoad(_ number: UInt64) {
    let number = Int64(clamping: number)
    // Errors are ignored: only tests depend on the count, and they do not run on a full disk. There
    // is no transaction, which a failure could leave open: of several rows the highest counts.
    let isCounted: Void? = try? database.execute(
      """
      INSERT OR REPLACE INTO load (id) VALUES (\(number));
      DELETE FROM load WHERE id < \(number);
      """)
    let isCopied: Void? = try? database.checkpoint()
    // The copy of the log has synced the whole file.
    if file.durability == .power, isCounted != nil, isCopied != nil { file.mark.remove() }
  }

  /// Copies the whole write-ahead log into the file and empties it, so that a log that is truncated
  /// later loses only the last commits.
  private func checkpointIfDue() {
    guard database.pagesInLog >= nextCheckpoint else { return }
    do {
      try database.checkpoint()
      nextCheckpoint = Self.pagesOfLog
    } catch {
      // The disk is probably full. Nothing is lost, and the next commits report the failure.
      nextCheckpoint = database.pagesInLog + Self.pagesOfLog
    }
  }
}
