// SPDX-License-Identifier: Apache-2.0

/// The failures that a commit survives, in the journal and in the database.
public enum Durability: String, CaseIterable, Sendable {
  /// Commits survive the end of the process at any moment.
  ///
  /// A commit never waits for the disk: a checkpoint that syncs takes 60 to 150 ms on a busy disk,
  /// one that does not sync takes 3 ms. A power failure may damage the journal: the server then
  /// uses the readable part and logs the unreadable part.
  case process
  /// Commits also survive a power failure: each transaction waits milliseconds for the disk.
  case power

  /// The `synchronous` setting of a database, which no event loop waits for and which other
  /// processes may share.
  ///
  /// - Source: https://www.sqlite.org/pragma.html#pragma_synchronous
  var databaseSynchronous: String {
    switch self {
    case .process: "NORMAL"
    case .power: "FULL"
    }
  }
}
