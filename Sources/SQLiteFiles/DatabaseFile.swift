// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Glibc

/// The file of a database: where it is, how it is set up, and how it is opened.
struct DatabaseFile: Sendable {
  let folder: String
  let name: String
  let schemas: [Schema]
  /// How long to wait for another process that is writing.
  let busyTimeout: Duration
  let durability: Durability
  /// Called with the file each time that it has been opened; nil: nothing.
  var prepare: (@Sendable (Database) throws -> Void)?
  /// Told of a file that is missing while it is open, once until it is back.
  let missing: @Sendable (StorageError) -> Void

  /// Opens the database of a folder, both made if they are not there, and brings its schema up to
  /// date. It blocks its thread, for milliseconds, or up to the busy timeout.
  func open() throws(StorageError) -> OpenDatabase {
    let place = DatabaseFolder(path: folder)
    try place.create()
    return try place.exclusively(within: busyTimeout) { () throws(StorageError) in
      try place.createFile(name)
      do {
        let isUpToDate = try isUpToDate()
        let pool = try DatabasePool(path: path, configuration: configuration)
        // With a write-ahead log NORMAL is safe against a killed process, and never damages the file.
        // A power cut can take back the last commits, as it can with a phone's own lists; waiting
        // for the disk at every commit costs milliseconds instead of microseconds. A pool makes it
        // NORMAL whatever a connection was prepared with.
        // https://www.sqlite.org/pragma.html#pragma_synchronous
        try pool.writeWithoutTransaction { db in
          try db.execute(sql: "PRAGMA synchronous = \(durability.databaseSynchronous)")
        }
        if !isUpToDate { try DatabaseMigrator(schemas).migrate(pool) }
        if let prepare { try pool.writeWithoutTransaction(prepare) }
        return OpenDatabase(pool: pool, files: OpenedFiles(of: path, missing: missing))
      } catch {
        throw StorageError(error, of: self)
      }
    }
  }

  var path: String { "\(folder)/\(name)" }

  private var configuration: Configuration {
    var configuration = Configuration()
    configuration.label = "statewire"
    configuration.busyMode = .timeout(busyTimeout / .seconds(1))
    configuration.foreignKeysEnabled = true
    configuration.maximumReaderCount = Self.readers
    return configuration
  }

  /// How many connections read at the same time; each opens two files. One where the process may have few files
  /// open: a list that is read later is better than one that cannot be read.
  private static var readers: Int {
    let limit = sysconf(CInt(_SC_OPEN_MAX))
    return 0..<256 ~= limit ? 1 : 5
  }

  /// Whether the schema is the one of this program.
  ///
  /// A connection of its own, since a pool writes to the file as soon as it is made.
  ///
  /// - Throws: `newerVersion`; nothing has been written then.
  private func isUpToDate() throws -> Bool {
    let migrator = DatabaseMigrator(schemas)
    let file = try DatabaseQueue(path: path, configuration: configuration)
    let (isNewer, isComplete) = try file.read { db in
      (try migrator.hasBeenSuperseded(db), try migrator.hasCompletedMigrations(db))
    }
    try file.close()
    guard !isNewer else {
      throw StorageError(
        .newerVersion,
        "The database in \(folder) was written by a newer version of this program.")
    }
    return isComplete
  }
}
