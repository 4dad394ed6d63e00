// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The folder of a database, and the operations on its files that precede SQLite's.
package struct DatabaseFolder {
  let path: String

  /// Creates the value without accessing the folder.
  package init(path: String) { self.path = path }

  /// Creates the folder with mode 0700 if it does not exist; an existing folder is not changed.
  ///
  /// - Throws: `folderMissing` if it cannot be created; `notSafe` if other users can create files
  ///   in it, because SQLite would use their files as its own.
  package func create() throws(StorageError) {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw StorageError(
        .folderMissing, "The folder \(path) cannot be created: \(Self.reason(for: error)).",
        cause: error)
    }
    // The folder itself may be a symbolic link that the operator created.
    if let status = FileStatus(path) { try status.checkOwner(path, folder: nil) }
  }

  private static func reason(for error: any Error) -> String {
    switch error {
    case let error as CocoaError where error.code == .fileWriteFileExists: "a file has this name"
    case let error as CocoaError:
      (error.underlying as? POSIXError).map { String(cString: strerror($0.code.rawValue)) }
        ?? "\(error)"
    default: "\(error)"
    }
  }

  /// Creates an empty file with mode 0600 if it does not exist.
  ///
  /// SQLite treats an empty file as an empty database, and creates its auxiliary files with the
  /// same permissions.
  ///
  /// - Throws: `notSafe` if the file or one of its auxiliary files is not a regular file of this
  ///   user; errors of `openFile`.
  package func createFile(_ name: String) throws(StorageError) {
    // SQLite reads these files when it opens the database.
    for suffix in ["-wal", "-shm", "-journal"] { try check(name + suffix) }
    Foundation.close(try openFile(name))
  }

  /// Opens a file for reading and writing; creates it with mode 0600 if it does not exist.
  ///
  /// - Parameters:
  ///   - name: The name of the file in the folder.
  ///   - flags: Additional flags for `open`.
  /// - Returns: A file descriptor, which the caller closes.
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

  /// Checks the type and the owner of a file in the folder, if it exists.
  ///
  /// No race with the later opening is possible: no other user may write to the folder.
  private func check(_ name: String) throws(StorageError) {
    let file = "\(path)/\(name)"
    guard let status = FileStatus(file, followsLinks: false) else { return }
    guard status.kind != S_IFLNK else {
      throw StorageError(
        .notSafe, "\(file) is a symbolic link, which is not followed: replace it with the file.")
    }
    guard status.kind == S_IFREG else {
      throw StorageError(.notSafe, "\(file) is not a regular file: move it away.")
    }
    try status.checkOwner(file, folder: FileStatus(path))
  }

  /// Calls `body` while this process holds the lock of the folder.
  ///
  /// Without the lock, two processes that open a new database at the same time would both create
  /// its write-ahead log and its tables; SQLite's locks do not cover the two steps together.
  ///
  /// - Throws: `locked` if another process holds the lock for longer than `timeout`; errors of
  ///   `body`.
  func exclusively<Result>(
    within timeout: Duration, _ body: () throws(StorageError) -> Result
  ) throws(StorageError) -> Result {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else {
      let reason = String(cString: strerror(errno))
      throw StorageError(.notWritable, "The folder \(path) cannot be read: \(reason).")
    }
    // Closing the descriptor releases the lock, as the end of the process does.
    defer { Foundation.close(folder) }
    let interval = Duration.milliseconds(10)
    var waited = Duration.zero
    while flock(folder, LOCK_EX | LOCK_NB) != 0 {
      // The file system has no such locks: only SQLite's locks protect the database.
      guard errno == EWOULDBLOCK || errno == EINTR else { break }
      guard waited < timeout else {
        throw StorageError(.locked, "The folder \(path) is locked by another process.")
      }
      // SQLite waits in the same way while it is busy. This thread belongs to the queue that opens
      // the database: its other work needs the open database, and no task runs on it.
      usleep(useconds_t(interval / .microseconds(1)))
      waited += interval
    }
    return try body()
  }
}
