// SPDX-License-Identifier: Apache-2.0

import BuiltinKinds
import BuiltinStores
import EmbeddedStorage
import Sessions
import StorageTestSupport
import TestSupport

extension EmbeddedDatabase {
  /// Creates a database with the ids "1", "2" and so on, unless `ids` has other ones.
  convenience init(
    _ folder: String, clock: any Clock<Duration> = ContinuousClock(),
    ids: CountedIDs = CountedIDs(), complaints: RecordedFailures = RecordedFailures()
  ) {
    self.init(folder: folder, clock: clock, makeID: ids.make, failed: complaints.add)
  }
}

extension [StoreKind] {
  /// Returns the built-in kinds with a database.
  static func builtin(
    _ database: EmbeddedDatabase, todoLimits: TodoLimits = TodoLimits()
  ) -> [StoreKind] {
    StoreKind.builtin(
      lists: database.todoLists, balance: database.ledger, todoLimits: todoLimits)
  }
}
