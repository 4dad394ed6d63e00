// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// The identities of the files of an open database.
///
/// SQLite writes to the files that it has opened, also after they were deleted, moved or replaced: every commit
/// succeeds, and no other process ever finds the data. So each transaction compares the paths with the files that
/// were opened.
///
/// - Source: https://www.sqlite.org/howtocorrupt.html#_unlinking_or_renaming_a_database_file_while_in_use
package final class OpenedFiles: Sendable {
  /// Device and inode, which no two files have at the same time.
  private struct Identity: Equatable, Sendable {
    private let device: UInt
    private let inode: UInt

    /// Nil if the path leads to no file.
    init?(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return nil }
      device = UInt(status.st_dev)
      inode = UInt(status.st_ino)
    }
  }

  private let files: [(path: String, identity: Identity)]
  private let missing: @Sendable (StorageError) -> Void
  /// True from the first transaction that finds a file missing to the first one that finds all of them.
  private let isMissing = Atomic(false)

  /// Notes the files of a database that has just been opened: the file itself, its write-ahead log, and the memory
  /// that its connections share, as far as there is one.
  ///
  /// - Parameter missing: Called when a file is found to be missing, once until it is back.
  package init(of path: String, missing: @escaping @Sendable (StorageError) -> Void = { _ in }) {
    files = [path, path + "-wal", path + "-shm"].compactMap { path in
      Identity(path).map { (path, $0) }
    }
    self.missing = missing
  }

  /// Compares the paths with the files.
  ///
  /// - Cost: one call of `stat` for each file, about 1 µs.
  /// - Throws: `fileMissing` if a path leads to no file or to another one.
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
  /// The message is an instruction for the operator.
  init(missing path: String) {
    self.init(
      .fileMissing,
      """
      \(path) was deleted, moved or replaced while the server has it open, and nothing is stored: move the original \
      file back, or restart the server.
      """)
  }
}
