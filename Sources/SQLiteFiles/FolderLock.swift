// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// An exclusive lock on a data folder, held until the process ends or this object is released.
///
/// The lock is on a separate file, `lock`, and not on the folder, which is locked for a moment
/// whenever a database in it is opened. The file is never removed: another process may have just
/// opened it.
public final class FolderLock: Sendable {
  static let name = "lock"

  private let file: Int32

  /// Locks a folder; creates it if it does not exist.
  ///
  /// - Throws: `locked` if another process holds the lock, in which case the folder is unchanged;
  ///   `folderMissing`, `notSafe` or `notWritable` if the folder or the file cannot be used.
  public init(folder: String) throws(StorageError) {
    let place = DatabaseFolder(path: folder)
    try place.create()
    file = try place.openFile(Self.name)
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      let reason = errno
      Foundation.close(file)
      throw reason == EWOULDBLOCK
        ? StorageError(
          .locked,
          "The folder \(folder) is in use by another server: stop it, or use another folder.")
        : StorageError(
          .notWritable,
          "The folder \(folder) cannot be locked: \(String(cString: strerror(reason))).")
    }
  }

  deinit { Foundation.close(file) }
}
