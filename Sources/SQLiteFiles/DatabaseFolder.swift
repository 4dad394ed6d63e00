// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The folder that holds a database, and the file in it, before SQLite comes in.
package struct DatabaseFolder {
  let path: String

  package init(path: String) { self.path = path }

  /// Makes the folder for its owner alone (0700) if it is not there; one that is stays as it is.
  ///
  /// - Throws: `notSafe` if other users can put files into it: SQLite would take theirs for its own.
  package func create() throws(StorageError) {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw StorageError(
        .folderMissing, "The folder \(path) cannot be made: \(Self.reason(for: error)).",
        cause: error)
    }
    // The folder itself may be a link, which the operator has made.
    if let status = FileStatus(path) { try status.checkOwner(path, folder: nil) }
  }

  private static func reason(for error: any Error) -> String {
    switch error {
    case let error as CocoaError where error.code == .fileWriteFileExists: "a file is there"
    case let error as CocoaError:
      (error.underlying as? POSIXError).map { String(cString: strerror($0.code.rawValue)) }
        ?? "\(error)"
    default: "\(error)"
    }
  }

  /// Makes an empty file for its owner alone (0600) if it is not there.
  ///
  /// SQLite takes an empty file for an empty database, and gives the files that it puts beside it
  /// the same permissions.
  ///
  /// - Throws: `notSafe` if the file or one beside it is not a regular file of this user; what
  ///   `openFile` throws.
  package func createFile(_ name: String) throws(StorageError) {
    // SQLite reads these when it opens the file.
    for suffix in ["-wal", "-shm", "-journal"] { try check(name + suffix) }
    Foundation.close(try openFile(name))
  }

  /// Opens a file, made for its owner alone (0600) if it is not there.
  ///
  /// - Parameters:
  ///   - name: Its name in the folder.
  ///   - flags: More of those of `open`.
  /// - Returns: A descriptor, to be closed by the caller.
  /// - Throws: `notSafe` if it is not a regular file of this user; `notWritable`.
  package func openFile(_ name: String, _ flags: Int32 = 0) throws(StorageError) -> Int32 {
    try check(name)
    let file = open(
      "\(path)/\(name)", O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0o600)
    guard file >= 0 else {
      let reason = String(cString: strerror(errno))
      throw StorageError(.notWritable, "\(path)/\(name) cannot be written: \(reason).")
    }
    return file
  }

  /// Checks a file of the folder, if it is there.
  ///
  /// Nothing comes between this and opening the file: no other user may write to the folder.
  private func check(_ name: String) throws(StorageError) {
    let file = "\(path)/\(name)"
    guard let status = FileStatus(file, followsLinks: false) else { return }
    guard status.kind != S_IFLNK else {
      throw StorageError(
        .notSafe, "\(file) is a symbolic link, which is not followed: put the file itself there.")
    }
    guard status.kind == S_IFREG else {
      throw StorageError(.notSafe, "\(file) is not a regular file: move it away.")
    }
    try status.checkOwner(file, folder: FileStatus(path))
  }

  /// Calls `body` while no other process is in here.
  ///
  /// Two processes that open a new database at once would otherwise both set up its journal and
  /// its tables; SQLite's own locks do not cover the two steps together.
  ///
  /// - Throws: `locked` if it takes longer than `timeout`; what `body` throws.
  func exclusively<Result>(
    within timeout: Duration, _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else {
      let reason = String(cString: strerror(errno))
      throw StorageError(.notWritable, "The folder \(path) cannot be read: \(reason).")
    }
    // Closing it gives the lock back, as the end of the process does.
    defer { Foundation.close(folder) }
    let interval = Duration.milliseconds(10)
    var waited = Duration.zero
    while flock(folder, LOCK_EX | LOCK_NB) != 0 {
      // A file system without such locks: SQLite's own have to do.
      guard errno == EWOULDBLOCK || errno == EINTR else { break }
      guard waited < timeout else {
        throw StorageError(.locked, "The folder \(path) is locked by another process.")
      }
      // As SQLite does while it is busy. The thread is that of the queue which opens the database:
      // whatever else it could do waits for just this, and no other task runs on it.
      usleep(useconds_t(interval / .microseconds(1)))
      waited += interval
    }
    return try body()
  }
}
