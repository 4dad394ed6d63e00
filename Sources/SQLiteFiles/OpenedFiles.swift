// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// The identities of the files of an open database.
///
/// SQLite continues to write to the files that it has opened after they were deleted, moved or
/// replaced: every commit succeeds, and no other process ever finds the data. Therefore each
/// transaction compares the paths with the files that were opened.
///
/// - Source:
///   https://www.sqlite.org/howtocorrupt.html#_unlinking_or_renaming_a_database_file_while_in_use
package final class OpenedFiles: Sendable {
  /// Device and inode; no two files have the same pair at the same time.
  private struct Identity: Equatable, Sendable {
    private let device: UInt
    private let inode: UInt

    /// Reads the identity; nil if no file exists at the path.
    init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      device = UInt(status.st_dev)
      inode = UInt(status.st_ino)
    }
  }

  private let files: [(path: String, identity: Identity)]
  private let missing: @Sendable (StorageError) -> Void
  /// True from the first check that finds a file missing to the first check that finds all files.
  private let isMissing = Atomic(false)

  /// Records the files of a database that was just opened: the database file, its write-ahead log
  /// and its shared-memory file, as far as they exist.
  ///
  /// - Parameter missing: Called when a file is found to be missing; not again until it is back.
  package init(of path: String, missing: @escaping @Sendable (StorageError) -> Void = { _ in }) {
    files = [path, path + "-wal", path + "-shm"].compactMap { path in
      Identity(path).map { (path, $0) }
    }
    self.missing = missing
  }

  /// Compares the paths with the opened files.
  ///
  /// - Complexity: one call of `stat` for each file, about 1 µs.
  /// - Throws: `fileMissing` if no file or another file exists at a path.
  package func check() throws(StorageError) {
    guard let path = files.first(where: { Identity($0.path) != $0.identity })?.path else {
      if isMissing.load(ordering: .relaxed) { isMissing.store(false, ordering: .relaxed) }
      return
    }
    let error = StorageError(missing: path)
    if !isMissing.exchange(true, ordering: .relaxed) { missing(error) }
    throw error
  }
}

extension StorageError {
  /// Creates the error for a missing file; the message tells the operator what to do.
  init(missing path: String) {
    self.init(
      .fileMissing,
      """
      \(path) was deleted, moved or replaced while the server has it open, so nothing is stored: move the original \
      file back, or restart the server.
      """)
  }
}
