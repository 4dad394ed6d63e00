// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// Why the database could not do what it was asked for; nothing has been written then.
///
/// The message is one sentence for the operator. It names the folder and never what is stored.
public struct StorageError: Error, Sendable {
  public enum Code: String, Sendable {
    /// The folder is not there and cannot be made.
    case folderMissing
    /// The folder or the file in it may not be written.
    case notWritable
    /// The folder or a file in it is not one that this user alone controls; for example a link.
    case notSafe
    /// A file of the database was deleted, moved or replaced after it was opened.
    case fileMissing
    /// The file is no database, or a damaged one.
    case notADatabase
    /// A newer version of the program has written the database; it is left as it was.
    case newerVersion
    /// Another process has held the database for longer than the busy timeout.
    case locked
    /// The database has been closed.
    case closed
    /// The task that asked was cancelled.
    case cancelled
    /// Anything else: the disk is full, reading failed and so on.
    case failed
  }

  public let code: Code
  /// One sentence that says what is wrong.
  public let message: String
  /// What a lower layer said, if one did.
  public let cause: (any Error)?

  package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }
}

extension StorageError: CustomStringConvertible {
  public var description: String { message }
}

extension StorageError {
  static let closed = StorageError(.closed, "The database has been closed.")

  /// What an error of a lower layer means for a database.
  init(_ error: any Error, of file: DatabaseFile) {
    switch error {
    case let error as StorageError:
      self = error
    case is CancellationError:
      self.init(.cancelled, "The work with the database was cancelled.", cause: error)
    case let error as DatabaseError:
      self.init(error, of: file)
    default:
      self.init(.failed, "The database in \(file.folder) failed.", cause: error)
    }
  }

  private init(_ error: DatabaseError, of file: DatabaseFile) {
    let folder = file.folder
    switch error.resultCode {
    case .SQLITE_NOTADB, .SQLITE_CORRUPT:
      self.init(
        .notADatabase, "The file \(file.path) is no database, or damaged.",
        cause: error)
    case .SQLITE_BUSY, .SQLITE_LOCKED:
      self.init(
        .locked, "The database in \(folder) is locked by another process.", cause: error)
    case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM:
      self.init(.notWritable, "The database in \(folder) cannot be written.", cause: error)
    case .SQLITE_INTERRUPT,
      // A statement after the one that was interrupted, whose transaction is over.
      .SQLITE_ABORT where Task.isCancelled:
      self.init(.cancelled, "The work with the database was cancelled.", cause: error)
    default:
      // The number and SQLite's own words for it; its message could quote what is stored.
      self.init(
        .failed, "The database in \(folder) failed: \(error.extendedResultCode).", cause: error)
    }
  }
}
