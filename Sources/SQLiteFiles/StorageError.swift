// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// The reason why an operation on the database failed; the operation has written nothing.
///
/// The message is one sentence for the operator. It names the folder and never contains stored
/// data.
public struct StorageError: Error, Sendable {
  /// The category of the failure.
  public enum Code: String, Sendable {
    /// The folder does not exist and cannot be created.
    case folderMissing
    /// The process may not write to the folder or to the file.
    case notWritable
    /// Other users can control the folder or a file in it, or a file is not a regular file, for
    /// example a symbolic link.
    case notSafe
    /// A file of the database was deleted, moved or replaced after it was opened.
    case fileMissing
    /// The file is not a database, or is damaged.
    case notADatabase
    /// A newer version of the program wrote the database; the file is unchanged.
    case newerVersion
    /// Another process has held the database for longer than the busy timeout.
    case locked
    /// The database is closed.
    case closed
    /// The calling task was cancelled.
    case cancelled
    /// The disk is full.
    case full
    /// Any other failure, for example a read error.
    case failed
  }

  /// The category of the failure.
  public let code: Code
  /// The cause, the object and, where one exists, the remedy, in one sentence.
  public let message: String
  /// The error of the lower layer, if there is one.
  public let cause: (any Error)?

  /// Creates an error.
  package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }
}

extension StorageError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}

extension StorageError {
  static let closed = StorageError(.closed, "The database has been closed.")

  /// Converts an error of a lower layer.
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
        .notADatabase,
        "The file \(file.path) is not a database or is damaged: restore a backup, or move it away.",
        cause: error)
    case .SQLITE_BUSY, .SQLITE_LOCKED:
      self.init(
        .locked, "The database in \(folder) is locked by another process.", cause: error)
    case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM:
      self.init(.notWritable, "The database in \(folder) cannot be written.", cause: error)
    case .SQLITE_FULL:
      self.init(.full, "The disk of \(folder) is full: free space on it.", cause: error)
    case .SQLITE_INTERRUPT,
      // The next statement after the interrupted one, whose transaction has ended.
      .SQLITE_ABORT where Task.isCancelled:
      self.init(.cancelled, "The work with the database was cancelled.", cause: error)
    default:
      // The result code and SQLite's description of it; SQLite's message could quote stored data.
      self.init(
        .failed, "The database in \(folder) failed: \(error.extendedResultCode).", cause: error)
    }
  }
}
