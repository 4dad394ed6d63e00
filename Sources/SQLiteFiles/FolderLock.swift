// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A data folder that belongs to this process alone, until it ends or lets go of this.
///
/// A file of its own is locked and not the folder, which is locked for moments whenever a database
/// in it is opened. The file stays: removing it could take it from another process that has just
/// opened it.
public final class FolderLock: Sendable {
  static let name = "lock"

  private let file: Int32

  /// Locks a folder, made if it is not there.
  ///
  /// - Throws: `locked` if another process has it, and the folder is as it was then; `notSafe`.
  public init(folder: String) throws(StorageError) {
    let place = DatabaseFolder(path: folder)
    try place.create()
    file = try place.openFile(Self.name)
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      let reason = errno
      Foundation.close(file)
      throw reason == EWOULDBLOCK
        ? StorageError(.locked, "The folder \(folder) is in use by another server.")
        : StorageError(
          .notWritable,
          "The folder \(folder) cannot be locked: \(String(cString: strerror(reason))).")
    }
  }

  deinit { Foundation.close(file) }
}
