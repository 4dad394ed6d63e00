// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import PostgresConnections
import PostgresSessionJournal
import PostgresStorage
import PostgresTestSupport
import StorageTestSupport
import StoredTodoLists
import TestSupport

/// A database with tables, and the storage of several nodes in it.
struct SharedDatabase {
  let server: PostgresServer
  let address: PostgresAddress
  /// A connection that is none of the nodes'.
  let observer: PostgresConnection

  init(_ server: PostgresServer) throws {
    self.server = server
    address = try PostgresAddress(server.makeDatabase())
    observer = PostgresConnection(address, application: "observer")
    try NodeTable(address).close()
  }

  /// Opens the storage of a node.
  func node(
    _ name: String = "a", _ options: PostgresStorage.Options = .init(),
    clock: any Clock<Duration> = ContinuousClock(),
    complaints: RecordedFailures = RecordedFailures()
  ) -> PostgresStorage {
    PostgresStorage(
      address, name: name, options: options, clock: clock, failed: complaints.add)
  }

  /// Adds a todo, and notifies no node.
  func addSilently(_ title: String, to list: String = "default") throws {
    let id = RandomUUID.text()
    try observer.run(
      """
      SELECT statewire.todo_perform(convert_to('\(list)', 'UTF8'), convert_to('\(id)', 'UTF8'), 'add',
        convert_to('\(id)', 'UTF8'), false, convert_to('\(title)', 'UTF8'), NULL, 1000, 1000, 1000000,
        1000, 1000000)
      """)
  }

  /// Ends the connections of the nodes.
  func disconnect() throws {
    try observer.run(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name LIKE 'statewire %' AND datname = current_database()
      """)
  }
}
