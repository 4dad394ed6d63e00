// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The type, permissions and owner of a file or a folder.
struct FileStatus {
  /// The file type, for example `S_IFREG`.
  let kind: mode_t
  private let mode: mode_t
  private let owner: uid_t

  /// Reads the status; nil if the path does not exist or its status cannot be read.
  init?(_ path: String, followsLinks: Bool = true) {
    var status = stat()
    guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
    kind = status.st_mode & S_IFMT
    mode = status.st_mode & ~S_IFMT
    owner = status.st_uid
  }

  /// Refuses files that users other than root and the user of this process control, as ssh and
  /// PostgreSQL do.
  ///
  /// Root may use the folder of another user, with that user's files in it. The mode of a file does
  /// not matter in a folder that no other user may enter.
  ///
  /// - Parameter folder: The status of the folder that contains the file; nil for the folder
  ///   itself.
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
