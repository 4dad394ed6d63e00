// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import SQLiteFiles

/// The file of the session journal: its path, its opening, and the replacement of a damaged file.
///
/// The journal does not share the file of the todo lists: the event loop writes it and must not
/// wait for another process that writes.
struct JournalFile {
  static let name = "sessions.sqlite"
  /// The SQLite application id of a session journal ("SWsj").
  static let applicationID: Int32 = 0x5357_736A

  let folder: String
  let durability: Durability
  let steps: [String]

  private var path: String { "\(folder)/\(Self.name)" }
  /// The mark beside the file.
  var mark: JournalMark { JournalMark(folder: folder) }
  /// The path of the new file that replaces a damaged one.
  private var newPath: String { path + ".new" }
  private var files: FileManager { .default }

  /// Returns true if a folder has the file of a journal.
  static func exists(in folder: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(folder)/\(name)")
  }

  /// Opens the file, creates it if it does not exist, and migrates it.
  ///
  /// - Returns: The connection, and a sentence about a file that was moved away, if there was one.
  /// - Throws: `StorageError`; a file from a newer version stays unchanged.
  func open() throws(StorageError) -> (JournalDatabase, moved: String?) {
    try DatabaseFolder(path: folder).create()
    let replaced = try completeReplacement()
    do {
      return (try open(Self.name), replaced)
    } catch let failure where failure.code == .notADatabase {
      let name = try moveAside()
      return (
        try open(Self.name),
        "\(path) is not a session journal or is damaged; it was moved to \(name)."
      )
    }
  }

  // MARK: Replacing a damaged file

  /// Opens a new, empty file, which is filled before it replaces the damaged one.
  func openNew() throws(StorageError) -> JournalDatabase {
    try remove(newPath)
    try remove(newPath + "-wal")
    return try open(Self.name + ".new")
  }

  /// Replaces the damaged file with the new one. Both connections are closed, and the log of the
  /// new file has been copied into it.
  ///
  /// - Returns: The connection to the new file, and the new path of the damaged one.
  func replace() throws(StorageError) -> (JournalDatabase, moved: String) {
    // Closing the connection normally removes this log. While it exists, the new file counts as
    // incomplete.
    try remove(newPath + "-wal")
    let name = try moveAside()
    try move(newPath, to: path)
    return (try open(Self.name), name)
  }

  /// Completes a replacement that the end of a process interrupted: if the damaged file has been
  /// moved away, the new file is complete.
  ///
  /// - Returns: A sentence about the replacement; nil if there was nothing to do.
  private func completeReplacement() throws(StorageError) -> String? {
    guard !files.fileExists(atPath: path), files.fileExists(atPath: newPath),
      !files.fileExists(atPath: newPath + "-wal")
    else { return nil }
    let aside = aside(firstFree: false)
    if files.fileExists(atPath: path + "-wal") { try move(path + "-wal", to: aside + "-wal") }
    mark.remove()
    try move(newPath, to: path)
    return Self.isNew(insteadOf: aside)
  }

  /// Returns the sentence that reports a replaced journal.
  static func isNew(insteadOf moved: String) -> String {
    "The readable part of the session journal is in a new file; the damaged file is \(moved)."
  }

  /// Moves the file and its log to a free name.
  ///
  /// - Returns: The new path of the file.
  private func moveAside() throws(StorageError) -> String {
    let aside = aside(firstFree: true)
    // The log moves too, so that SQLite's tools find both together. It moves last, because the file
    // without its log would be an older state.
    for suffix in ["", "-wal"] where files.fileExists(atPath: path + suffix) {
      try move(path + suffix, to: aside + suffix)
    }
    mark.remove()
    return aside
  }

  /// Returns a path for a damaged file: the first free one, or the last one in use.
  private func aside(firstFree: Bool) -> String {
    var number = 1
    while files.fileExists(atPath: "\(path).damaged-\(number)") { number += 1 }
    return "\(path).damaged-\(firstFree ? number : max(1, number - 1))"
  }

  private func move(_ path: String, to other: String) throws(StorageError) {
    do {
      try files.moveItem(atPath: path, toPath: other)
    } catch {
      throw StorageError(.notWritable, "\(path) cannot be moved to \(other).", cause: error)
    }
  }

  private func remove(_ path: String) throws(StorageError) {
    guard files.fileExists(atPath: path) else { return }
    do {
      try files.removeItem(atPath: path)
    } catch {
      throw StorageError(.notWritable, "\(path) cannot be removed.", cause: error)
    }
  }

  // MARK: Opening

  private func open(_ name: String) throws(StorageError) -> JournalDatabase {
    try DatabaseFolder(path: folder).createFile(name)
    let path = "\(folder)/\(name)"
    let foreign = StorageError(.notADatabase, "\(path) is not a session journal.")
    guard try mayBeSessionJournal(path) else { throw foreign }
    do {
      let database = try JournalDatabase(path)
      // No other process uses the file, because the folder is locked. Without locks and shared
      // memory a commit costs a third less.
      try database.execute("PRAGMA locking_mode = EXCLUSIVE;")
      guard let version = try version(of: database) else { throw foreign }
      guard version <= steps.count else {
        throw StorageError(
          .newerVersion,
          """
          The session journal in \(folder) was written by a newer version of this program: run \
          that version, or use another folder.
          """)
      }
      // `SQLiteJournal` decides when a checkpoint runs (its hook replaces SQLite's own). The pages
      // of deleted rows are not overwritten with zeros where that would need an additional write.
      try database.execute(
        """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = \(Durability.power.synchronous);
        PRAGMA secure_delete = FAST;
        PRAGMA cell_size_check = ON;
        PRAGMA cache_size = -8192;
        """)
      // The commits in the log may have waited for the disk, and must be there when they are copied.
      if mark.isMissing { try? database.checkpoint() }
      try database.execute("PRAGMA synchronous = \(durability.synchronous);")
      if version < steps.count { try migrateOrMark(database, from: version) }
      if name == Self.name { try observeMark(database) }
      database.noteFiles(path)
      return database
    } catch {
      throw StorageError(journal: error, in: folder)
    }
  }

  /// Migrates the file, or marks it as damaged, so that it is replaced.
  private func migrateOrMark(
    _ database: JournalDatabase, from version: Int
  ) throws(SQLiteFailure) {
    do throws(SQLiteFailure) {
      try migrate(database, from: version)
    } catch {
      guard error.isDamage, version > 0 else { throw error }
      try? database.execute("ROLLBACK;")
      database.mustBeReplaced = true
    }
  }

  /// Checks what the mark of the file asks for, and marks the file if commits will not wait for the
  /// disk.
  private func observeMark(_ database: JournalDatabase) throws(StorageError) {
    guard !database.mustBeReplaced else { return }
    switch mark.check {
    case .none: break
    case .everything: database.mustBeReplaced = true
    case .indexes:
      do throws(SQLiteFailure) {
        try database.rebuildIndexes()
      } catch {
        // The disk is probably full, and the next start tries again.
        guard error.isDamage else { return }
        database.mustBeReplaced = true
      }
    }
    if durability == .process, !database.mustBeReplaced { try mark.noteUnsynced() }
  }

  private func migrate(_ database: JournalDatabase, from version: Int) throws(SQLiteFailure) {
    for (number, step) in steps.enumerated().dropFirst(version) {
      try database.execute("BEGIN IMMEDIATE;\n\(step)")
      if number + 1 == JournalSchema.versionWithColumns {
        try JournalMigration.fillColumns(database)
      }
      try database.execute(
        """
        PRAGMA application_id = \(Self.applicationID);
        PRAGMA user_version = \(number + 1);
        COMMIT;
        """)
    }
    try database.checkpoint()
  }

  /// Returns true if the first bytes of a file allow it to be a session journal, so that SQLite
  /// never modifies any other file.
  ///
  /// - Source: https://www.sqlite.org/fileformat2.html#the_database_header
  private func mayBeSessionJournal(_ path: String) throws(StorageError) -> Bool {
    // Foundation's file handles are not used: their first use takes a tenth of the start-up time.
    let file = Foundation.open(path, O_RDONLY | O_CLOEXEC)
    defer { if file >= 0 { Foundation.close(file) } }
    var header = [UInt8](repeating: 0, count: 100)
    let count = file >= 0 ? pread(file, &header, header.count, 0) : -1
    guard count >= 0 else {
      let reason = String(cString: strerror(errno))
      throw StorageError(.notWritable, "\(path) cannot be read: \(reason).")
    }
    header.removeLast(header.count - count)
    if header.isEmpty { return true }
    guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
      return false
    }
    let id = header[68..<72].reduce(0) { $0 << 8 | Int32($1) }
    return id == Self.applicationID || id == 0
  }

  /// Returns the version of the tables; nil if the file is not a session journal.
  ///
  /// It asks SQLite, because after a killed process the last commit may be in the log only.
  private func version(of database: JournalDatabase) throws(SQLiteFailure) -> Int? {
    let version = try database.number("PRAGMA user_version")
    switch try database.number("PRAGMA application_id") {
    case Int64(Self.applicationID):
      return version > 0 ? Int(version) : nil
    case 0:
      // Either the process was killed before it wrote anything, or another program created the
      // file.
      let isEmpty = try database.number("SELECT count(*) FROM sqlite_schema") == 0
      return isEmpty && version == 0 ? 0 : nil
    default:
      return nil
    }
  }
}

extension Durability {
  /// The `synchronous` setting of the journal: whether a commit waits for the disk.
  ///
  /// - Source: https://www.sqlite.org/pragma.html#pragma_synchronous
  fileprivate var synchronous: String {
    switch self {
    case .process: "OFF"
    case .power: "FULL"
    }
  }
}

extension StorageError {
  /// Converts an error of the session journal in a folder.
  init(journal error: any Error, in folder: String) {
    switch error {
    case let error as StorageError:
      self = error
    case let error as SQLiteFailure:
      if let missing = error.missing {
        self = missing
      } else if error.isDamage {
        self.init(
          .notADatabase,
          "The session journal in \(folder) is not a database or is damaged: restart the server.",
          cause: error)
      } else {
        self.init(
          .failed, "The session journal in \(folder) failed: \(error.reason).", cause: error)
      }
    default:
      self.init(.failed, "The session journal in \(folder) failed.", cause: error)
    }
  }
}
