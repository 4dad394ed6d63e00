// SPDX-License-Identifier: Apache-2.0

public import SQLiteFiles
public import Sessions

/// The session journal in a file of its own, `sessions.sqlite`.
///
/// How a turn is written:
///
///     step, step, …   one row of `step` per store: patches, frames, and the sequences with them
///     state           `state`: patches before it go, and rows in which no needed frame is left
///     accepted        `accepted`, until it is settled
///     anything else   `session`, `store`, `mark`: small rows that are written over
///
/// So an input that changes a store adds one row to one page, and the file does not grow beyond what
/// sessions have now.
///
/// A start reads the rows of `session` alone (`overview`); each knows its stores, and is read to the end when it is loaded.
///
/// Every row has a checksum. A damaged one costs what hangs on it: behind a damaged patch a store
/// goes back to the state before it, under a new revision, since none may stand for two states; a
/// damaged frame costs those before it; without what tells revisions and sequences, a session is
/// over. What could be read is then written to a new file, which takes the place of the damaged one
/// once all of it is there; that one is kept beside it.
///
/// Used by one thread at a time, and by one process: whoever opens it has locked the folder.
public final class SQLiteJournal: SessionJournal {
  /// A checkpoint begins when the write-ahead log has so many pages. Without syncing it takes 3 ms
  /// for these 4 MiB on a busy machine; twice as many pages take twice as long, and half as many
  /// write hot pages twice as often.
  static let pagesOfLog = 1000
  /// Handles of sessions that are over are kept of so many.
  static let endedCount: Int64 = 10_000

  private let file: JournalFile
  /// Nil where no crashes are counted.
  private let crashFile: CrashFile?
  var database: JournalDatabase
  /// What has happened to the file before it could be opened.
  private var damage: [String] = []
  private var index: JournalIndex?
  private var nextCheckpoint = SQLiteJournal.pagesOfLog

  /// Opens the journal of a folder, made if it is not there.
  ///
  /// - Parameters:
  ///   - folder: Where the file is or is to be.
  ///   - durability: What it outlives.
  ///   - countsCrashes: True if a session is set aside after its restored work has crashed the process twice in a row.
  ///     This installs handlers for the signals of crashes, before the earlier ones; for one journal of a process.
  /// - Throws: One sentence that says what is wrong. A file that is no journal is no reason: it is
  ///   moved out of the way, and `load()` says so.
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

  public var crashes: (any CrashCounter)? { crashFile }

  public func commit(_ entries: [JournalEntry]) throws {
    if index == nil { _ = try load() }
    guard let index, !entries.isEmpty else { return }
    do {
      let turn = JournalTurn(database: database, index: index)
      try turn.write(entries)
    } catch {
      throw StorageError(journal: error, in: file.folder)
    }
    checkpointIfDue()
  }

  public func load() throws -> JournalContents {
    do {
      var reader = JournalReader(database: database)
      try reader.read()
      index = reader.index
      var contents = reader.contents
      if !contents.damage.isEmpty {
        let moved = try rescue(contents)
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

  public func overview() throws -> JournalOverview {
    do {
      var reader = JournalReader(database: database)
      var overview = try reader.readOverview()
      for index in overview.sessions.indices.reversed() {
        let handle = overview.sessions[index].handle
        guard crashFile?.isSetAside(handle) == true, let known = reader.index.sessions[handle]
        else { continue }
        overview.sessions.remove(at: index)
        if let session = try reader.read(known) { overview.setAside.insert(session, at: 0) }
      }
      guard reader.contents.damage.isEmpty else { return try overviewOfRest() }
      index = reader.index
      countLoad(reader.contents.loads)
      overview.damage = damage
      damage = []
      if let crashFile { noteUnreadable(crashFile, in: &overview.damage) }
      return overview
    } catch {
      throw StorageError(journal: error, in: file.folder)
    }
  }

  /// Reads all of a damaged journal, so that a new file takes its place.
  private func overviewOfRest() throws -> JournalOverview {
    let contents = try load()
    setLoaded([])
    return JournalOverview(contents)
  }

  public func load(_ session: SessionHandle) throws -> LoadedSession {
    do {
      guard let index, let known = index.sessions[session] else {
        return LoadedSession(session: nil)
      }
      let record = JournalledSession(id: known.id, row: known.row, isLoaded: true)
      var reader = JournalReader(database: database)
      let read = try reader.read(record)
      guard reader.contents.damage.isEmpty else { return try loadRepaired(session, index) }
      index.sessions[session] = record
      return LoadedSession(session: read)
    } catch {
      throw StorageError(journal: error, in: file.folder)
    }
  }

  /// Reads all of a journal that turns out to be damaged while it is used, so that a new file takes its place, and one
  /// session of it.
  private func loadRepaired(
    _ handle: SessionHandle, _ index: JournalIndex
  ) throws -> LoadedSession {
    let used = Set(index.sessions.values.lazy.filter(\.isLoaded).map(\.row.handle))
    var reader = JournalReader(database: database)
    try reader.read()
    let contents = reader.contents
    let moved = try rescue(contents)
    var loaded = LoadedSession(session: contents.sessions.first { $0.handle == handle })
    loaded.damage = contents.damage + [JournalFile.isNew(insteadOf: moved)]
    let whole = Set(contents.sessions.lazy.map(\.handle)).subtracting(reader.damagedSessions)
    loaded.incomplete = used.subtracting(whole).subtracting([handle])
    setLoaded(used.union([handle]))
    return loaded
  }

  /// Notes which sessions are in memory.
  private func setLoaded(_ sessions: Set<SessionHandle>) {
    guard let index else { return }
    for (handle, session) in index.sessions { session.isLoaded = sessions.contains(handle) }
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
        \(crashes.unreadableLines) lines of \(file.folder)/\(CrashFile.name) are ignored, since they cannot be read. \
        Delete the file to be rid of them; the next start then also restores the sessions that are set aside.
        """)
    }
  }

  /// Writes what could be read to a new file.
  ///
  /// - Returns: What the damaged one is called now.
  private func rescue(_ contents: JournalContents) throws -> String {
    let new = try file.openNew()
    let index = JournalIndex()
    for entries in contents.entries { try JournalTurn(database: new, index: index).write(entries) }
    try new.checkpoint()
    new.close()
    database.close()
    let moved: String
    do throws(StorageError) {
      (database, moved) = try file.replace()
    } catch {
      // The journal goes on in the file that there is.
      (database, _) = try file.open()
      throw error
    }
    self.index = index
    return moved
  }

  /// Remembers how often the journal was loaded, where a cut log cannot take it back.
  private func countLoad(_ number: UInt64) {
    let number = Int64(clamping: number)
    // Tests alone need it, and where the disk is full there are none. No transaction, which could be
    // left open by a failure: of several rows the highest counts.
    try? database.execute(
      """
      INSERT OR REPLACE INTO load (id) VALUES (\(number));
      DELETE FROM load WHERE id < \(number);
      """)
    try? database.checkpoint()
  }

  /// Takes the write-ahead log into the file, all of it, and empties it: so what the log has lost,
  /// should it ever be cut, is what was committed last and nothing else.
  private func checkpointIfDue() {
    guard database.pagesInLog >= nextCheckpoint else { return }
    do {
      try database.checkpoint()
      nextCheckpoint = Self.pagesOfLog
    } catch {
      // The disk is full, most likely. Nothing is lost, and the next commits will say so.
      nextCheckpoint = database.pagesInLog + Self.pagesOfLog
    }
  }
}
