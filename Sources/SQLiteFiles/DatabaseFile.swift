// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Glibc

/// The path, settings and schema of a database file, and the function that opens it.
struct DatabaseFile: Sendable {
  let folder: String
  let name: String
  let schemas: [Schema]
  /// The longest wait while another process writes.
  let busyTimeout: Duration
  let durability: Durability
  /// Called with the file after each opening, if not nil.
  var prepare: (@Sendable (Database) throws -> Void)?
  /// Called when a file of the open database is found to be missing; not again until it is back.
  let missing: @Sendable (StorageError) -> Void

  /// Opens the database and migrates its schema; creates the folder and the file if they do not
  /// exist.
  ///
  /// Blocks the calling thread for milliseconds, or up to the busy timeout while another process
  /// holds the database.
  func open() throws(StorageError) -> OpenDatabase {
    let place = DatabaseFolder(path: folder)
    try place.create()
    return try place.exclusively(within: busyTimeout) { () throws(StorageError) in
      try place.createFile(name)
      do {
        let isUpToDate = try isUpToDate()
        let pool = try DatabasePool(path: path, configuration: configuration)
        // With a write-ahead log, NORMAL is safe when the process is killed, and never damages the
        // file. A power cut can undo the last commits. Syncing to the disk at every commit costs
        // milliseconds instead of microseconds. The pragma runs after the pool has been created,
        // because a pool sets NORMAL on its connection, whatever the configuration prepares.
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

  /// The maximum number of connections that read at the same time; each opens two files.
  ///
  /// It is 1 where the process may open fewer than 256 files: a read that waits is better than a
  /// read that fails.
  private static var readers: Int {
    let limit = sysconf(CInt(_SC_OPEN_MAX))
    return 0..<256 ~= limit ? 1 : 5
  }

  /// Returns true if the file has all migrations of this program.
  ///
  /// Uses a separate connection, because a pool writes to the file as soon as it is created.
  ///
  /// - Throws: `newerVersion` before anything has been written.
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
        """
        The database in \(folder) was written by a newer version of this program: run that version, \
        or use another folder.
        """)
    }
    return isComplete
  }
}
