// SPDX-License-Identifier: Apache-2.0

internal import Documents
internal import Logging
internal import PostgresStorage
internal import SQLiteDocuments
internal import SQLiteFiles
internal import Sessions

/// The storage of a server for the tables and documents of the program's own kinds: in the database
/// of its nodes, in its data folder, or in memory without either.
struct ServerDocuments: Sendable {
  private enum Place: Sendable {
    case file(SQLiteDocumentStorage)
    case memory(MemoryDocumentStorage)
    /// Its owner closes it.
    case database(PostgresDocumentStorage)
  }

  private let place: Place
  /// Raised when a kind asks for the storage.
  private let isUsed = AtomicFlag()

  /// Creates the storage without accessing a file.
  init(
    _ configuration: ServerConfiguration, _ testing: OutsideWork?, shared: PostgresDocumentStorage?
  ) {
    let (limits, logger) = (configuration.documentLimits, configuration.logger)
    if let shared {
      place = .database(shared)
    } else if let folder = configuration.dataFolder {
      place = .file(
        SQLiteDocumentStorage(
          folder: folder, durability: configuration.durability, limits: limits,
          busy: testing?.begin
        ) { failure in logger.error("\(failure)") })
    } else {
      place = .memory(MemoryDocumentStorage(limits: limits))
    }
  }

  /// The storage, for a kind.
  var storage: any DocumentStorage {
    isUsed.raise()
    return switch place {
    case .file(let database): database
    case .memory(let memory): memory
    case .database(let shared): shared
    }
  }

  /// Opens the file if a kind uses it, so that an unusable one is detected at the start.
  func open() async throws(StorageError) {
    if isUsed.isRaised, case .file(let database) = place { try await database.open() }
  }

  /// Polls for changes by other processes until the task is cancelled.
  func run() async {
    if case .file(let database) = place { await database.run() }
  }

  /// Ends the watches and closes the file.
  func close() async {
    switch place {
    case .file(let database): await database.close()
    case .memory(let memory): memory.close()
    case .database: break
    }
  }
}
