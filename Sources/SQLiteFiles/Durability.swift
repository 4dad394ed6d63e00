// SPDX-License-Identifier: Apache-2.0

/// What the latest of what is written outlives, in the journal as in the database.
public enum Durability: String, CaseIterable, Sendable {
  /// The end of the process at any moment. Nothing ever waits for the disk: a checkpoint that syncs takes 60 to 150 ms on a
  /// busy disk, one that does not 3. After lost power the journal may be damaged; what can be read of it is used, and the
  /// log says what could not.
  case process
  /// Lost power as well: each transaction waits for the disk, for milliseconds.
  case power

  /// Of a database, which no loop waits for, and which other processes may share.
  ///
  /// - Source: https://www.sqlite.org/pragma.html#pragma_synchronous
  var databaseSynchronous: String {
    switch self {
    case .process: "NORMAL"
    case .power: "FULL"
    }
  }
}
