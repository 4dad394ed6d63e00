// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import SQLiteFiles

/// The file of the session journal: where it is, how it is opened, and what becomes of a damaged one.
///
/// A file of its own and not the lists': it is written on the event loop, which must not wait for
/// whoever else is writing.
struct JournalFile {
  static let name = "sessions.sqlite"
  /// Marks the file as ours ("SWsj").
  static let applicationID: Int32 = 0x5357_736A

  let folder: String
  let durability: Durability
  let steps: [String]

  private var path: String { "\(folder)/\(Self.name)" }
  /// What is to take the place of a damaged file.
  private var newPath: String { path + ".new" }
  private var files: FileManager { .default }

  /// Opens the file, made if it is not there, and brings it up to date.
  ///
  /// - Returns: The connection, and a sentence about a file that was moved out of the way.
  /// - Throws: `StorageError`; a file from a newer version is left as it is.
  func open() throws(StorageError) -> (JournalDatabase, moved: String?) {
    try DatabaseFolder(path: folder).create()
    let replaced = try goOnReplacing()
    do {
      return (try open(Self.name), replaced)
    } catch let failure where failure.code == .notADatabase {
      let name = try moveAside()
      return (
        try open(Self.name), "\(path) is no session journal, or damaged; it is now \(name)."
      )
    }
  }

  // MARK: Replacing a damaged file

  /// Opens a new, empty file, to be filled before it takes the place of the damaged one.
  func openNew() throws(StorageError) -> JournalDatabase {
    try remove(newPath)
    try remove(newPath + "-wal")
    return try open(Self.name + ".new")
  }

  /// Lets the new file, which has its log in it, take the place of the damaged one; both are closed.
  ///
  /// - Returns: The connection, and the name of the damaged one.
  func replace() throws(StorageError) -> (JournalDatabase, moved: String) {
    // Gone with the connection, if that went well: as long as it is there the new file may lack
    // something.
    try remove(newPath + "-wal")
    let name = try moveAside()
    try move(newPath, to: path)
    return (try open(Self.name), name)
  }

  /// Goes on where a process was killed that was replacing the file: if the damaged one is out of the
  /// way, all is in the new one.
  ///
  /// - Returns: A sentence about it, if there was anything to do.
  private func goOnReplacing() throws(StorageError) -> String? {
    guard !files.fileExists(atPath: path), files.fileExists(atPath: newPath),
      !files.fileExists(atPath: newPath + "-wal")
    else { return nil }
    let aside = aside(firstFree: false)
    if files.fileExists(atPath: path + "-wal") { try move(path + "-wal", to: aside + "-wal") }
    try move(newPath, to: path)
    return Self.isNew(insteadOf: aside)
  }

  /// Says that the journal is not what it was.
  static func isNew(insteadOf moved: String) -> String {
    "What could be read of the session journal is in a new file; the damaged one is \(moved)."
  }

  /// - Returns: The name that the file has now.
  private func moveAside() throws(StorageError) -> String {
    let aside = aside(firstFree: true)
    // Its log goes with it, so that SQLite's own tools find them together; last, since the file would
    // be an older one without it.
    for suffix in ["", "-wal"] where files.fileExists(atPath: path + suffix) {
      try move(path + suffix, to: aside + suffix)
    }
    return aside
  }

  /// A name for a damaged file: the first that is free, or the last that is not.
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
    let foreign = StorageError(.notADatabase, "\(path) is no session journal.")
    guard try canBeOurs(path) else { throw foreign }
    do {
      let database = try JournalDatabase(path)
      // Nobody else uses the file, since the folder is locked: so each commit can do without locks,
      // and without memory that is shared with others, which makes it a third cheaper.
      try database.execute("PRAGMA locking_mode = EXCLUSIVE;")
      guard let version = try version(of: database) else { throw foreign }
      guard version <= steps.count else {
        throw StorageError(
          .newerVersion,
          "The session journal in \(folder) was written by a newer version of this program.")
      }
      // Checkpoints come when the journal says so (its hook takes the place of SQLite's own). Pages
      // of deleted rows are not overwritten with zeros where that would be a write of its own.
      try database.execute(
        """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = \(durability.synchronous);
        PRAGMA secure_delete = FAST;
        PRAGMA cell_size_check = ON;
        PRAGMA cache_size = -8192;
        """)
      if version < steps.count { try migrate(database, from: version) }
      database.noteFiles(path)
      return database
    } catch {
      throw StorageError(journal: error, in: folder)
    }
  }

  private func migrate(_ database: JournalDatabase, from version: Int) throws(SQLiteFailure) {
    for (number, step) in steps.enumerated().dropFirst(version) {
      try database.execute(
        """
        BEGIN IMMEDIATE;
        \(step)
        PRAGMA application_id = \(Self.applicationID);
        PRAGMA user_version = \(number + 1);
        COMMIT;
        """)
    }
    try database.checkpoint()
  }

  /// Whether a file can be ours, by its first bytes, so that SQLite touches none that cannot.
  ///
  /// - Source: https://www.sqlite.org/fileformat2.html#the_database_header
  private func canBeOurs(_ path: String) throws(StorageError) -> Bool {
    // Not with Foundation's file handles, whose first use takes a tenth of the start.
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

  /// The version of the tables; nil if they are not ours.
  ///
  /// SQLite is asked, and not the file alone: what was committed last is in the log if the process
  /// was killed right after it.
  private func version(of database: JournalDatabase) throws(SQLiteFailure) -> Int? {
    let version = try database.number("PRAGMA user_version")
    switch try database.number("PRAGMA application_id") {
    case Int64(Self.applicationID):
      return version > 0 ? Int(version) : nil
    case 0:
      // Nothing has come to be in it before the process was killed, or it is somebody else's.
      let isEmpty = try database.number("SELECT count(*) FROM sqlite_schema") == 0
      return isEmpty && version == 0 ? 0 : nil
    default:
      return nil
    }
  }
}

extension Durability {
  /// How a commit of the journal waits for the disk.
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
  /// What an error means for the session journal in a folder.
  init(journal error: any Error, in folder: String) {
    switch error {
    case let error as StorageError:
      self = error
    case let error as SQLiteFailure:
      if let missing = error.missing {
        self = missing
      } else if error.isDamage {
        self.init(
          .notADatabase, "The session journal in \(folder) is no database, or damaged.",
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
