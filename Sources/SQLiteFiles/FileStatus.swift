// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Who controls a file or a folder.
struct FileStatus {
  /// As in `S_IFREG`.
  let kind: mode_t
  private let mode: mode_t
  private let owner: uid_t

  /// Nil if there is nothing of this name, or it cannot be looked at.
  init?(_ path: String, followsLinks: Bool = true) {
    var status = stat()
    guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
    kind = status.st_mode & S_IFMT
    mode = status.st_mode & ~S_IFMT
    owner = status.st_uid
  }

  /// Refuses what users other than this process's and root control, as ssh and PostgreSQL do.
  ///
  /// Root may use the folder of another user, with that user's files in it. In a folder that nobody
  /// else may enter, the mode of a file does not matter.
  ///
  /// - Parameter folder: Where a file is; nil for the folder itself.
  /// - Throws: `notSafe` with a remedy.
  func checkOwner(
    _ path: String, folder: FileStatus?, user: uid_t = geteuid()
  ) throws(StorageError) {
    guard owner == user || owner == 0 || user == 0 && (folder == nil || owner == folder?.owner)
    else {
      throw StorageError(
        .notSafe,
        "\(path) belongs to another user (uid \(owner)): run as that user, or use another folder.")
    }
    let isReachable = folder.map { $0.mode & (S_IXGRP | S_IXOTH) != 0 } ?? true
    guard !isReachable || mode & (S_IWGRP | S_IWOTH) == 0 else {
      throw StorageError(
        .notSafe,
        "\(path) can be changed by other users: run chmod go-w on it, or use another folder.")
    }
  }
}
