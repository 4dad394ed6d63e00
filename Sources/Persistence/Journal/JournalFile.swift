// SPDX-License-Identifier: Apache-2.0

internal import Foundation

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

  /// Whether there is anything to read.
  enum Finding {
    case empty
    case journal(version: Int)
    /// Something else.
    case noJournal
  }

  /// Opens the file, made if it is not there, and brings it up to date.
  ///
  /// - Returns: The connection, and a sentence about a file that was moved out of the way.
  /// - Throws: `PersistenceError`; a file from a newer version is left as it is.
  func open() throws(PersistenceError) -> (JournalDatabase, moved: String?) {
    let place = DatabaseFolder(path: folder)
    try place.create()
    do {
      return (try openAsItIs(), nil)
    } catch let failure where failure.code == .notADatabase {
      let name = try moveAside()
      return (
        try openAsItIs(), "\(path) is no session journal, or damaged; it is now \(name)."
      )
    }
  }

  /// Opens a new, empty file; what was there goes out of the way.
  ///
  /// - Returns: The connection, and the name of what was there.
  func replace() throws(PersistenceError) -> (JournalDatabase, moved: String) {
    let name = try moveAside()
    return (try openAsItIs(), name)
  }

  private func openAsItIs() throws(PersistenceError) -> JournalDatabase {
    try DatabaseFolder(path: folder).createFile(Self.name)
    let version: Int
    switch try look() {
    case .empty: version = 0
    case .journal(let found): version = found
    case .noJournal: throw PersistenceError(.notADatabase, "\(path) is no session journal.")
    }
    guard version <= steps.count else {
      throw PersistenceError(
        .newerVersion,
        "The session journal in \(folder) was written by a newer version of this program.")
    }
    do {
      let database = try JournalDatabase(path)
      // Nobody else uses the file, since the folder is locked: so each commit can do without locks,
      // and without memory that is shared with others, which makes it a third cheaper.
      // Checkpoints come when the journal says so (its hook takes the place of SQLite's own). Pages of deleted rows are not overwritten
      // with zeros where that would be a write of its own.
      try database.execute(
        """
        PRAGMA locking_mode = EXCLUSIVE;
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = \(durability.synchronous);
        PRAGMA secure_delete = FAST;
        PRAGMA cell_size_check = ON;
        PRAGMA cache_size = -8192;
        """)
      if version < steps.count { try migrate(database, from: version) }
      return database
    } catch {
      throw PersistenceError(journal: error, in: folder)
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
    // The version is to be found in the file itself, see `look()`.
    try database.checkpoint()
  }

  /// Reads who has written the file from its first bytes, so that one that is not ours is not
  /// touched.
  ///
  /// - Source: https://www.sqlite.org/fileformat2.html#the_database_header
  private func look() throws(PersistenceError) -> Finding {
    let header: [UInt8]
    do {
      let file = try FileHandle(forReadingFrom: URL(filePath: path))
      defer { try? file.close() }
      header = Array(try file.read(upToCount: 100) ?? Data())
    } catch {
      throw PersistenceError(.notWritable, "\(path) cannot be read.", cause: error)
    }
    if header.isEmpty { return .empty }
    guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
      return .noJournal
    }
    func number(at offset: Int) -> Int32 {
      var number: Int32 = 0
      for byte in header[offset..<offset + 4] { number = number << 8 | Int32(byte) }
      return number
    }
    guard number(at: 68) == Self.applicationID, number(at: 60) > 0 else { return .noJournal }
    return .journal(version: Int(number(at: 60)))
  }

  /// - Returns: The name that the file has now.
  private func moveAside() throws(PersistenceError) -> String {
    let files = FileManager.default
    var number = 1
    while files.fileExists(atPath: "\(path).damaged-\(number)") { number += 1 }
    let aside = "\(path).damaged-\(number)"
    do {
      // Its log goes with it, so that SQLite's own tools find them together.
      for suffix in ["", "-wal"] where files.fileExists(atPath: path + suffix) {
        try files.moveItem(atPath: path + suffix, toPath: aside + suffix)
      }
    } catch {
      throw PersistenceError(
        .notWritable, "The damaged file \(path) cannot be moved out of the way.", cause: error)
    }
    return aside
  }
}

extension PersistenceError {
  /// What an error means for the session journal in a folder.
  init(journal error: any Error, in folder: String) {
    switch error {
    case let error as PersistenceError:
      self = error
    case let error as SQLiteFailure where error.isDamage:
      self.init(
        .notADatabase, "The session journal in \(folder) is no database, or damaged.", cause: error)
    case let error as SQLiteFailure:
      self.init(
        .failed, "The session journal in \(folder) failed: \(error.reason).", cause: error)
    default:
      self.init(.failed, "The session journal in \(folder) failed.", cause: error)
    }
  }
}
