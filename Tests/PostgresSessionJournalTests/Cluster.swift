// SPDX-License-Identifier: Apache-2.0

import PostgresConnections
import PostgresSessionJournal
import PostgresTestSupport
import Sessions
import TestSupport

/// Nodes that share a database.
struct Cluster {
  let server: PostgresServer
  let url: String
  let address: PostgresAddress
  /// A connection that is none of the nodes'.
  let observer: PostgresConnection
  let lease: Duration

  /// Creates an empty database in a server.
  init(_ server: PostgresServer, lease: Duration = .seconds(60)) throws {
    self.server = server
    self.lease = lease
    url = try server.makeDatabase()
    address = try PostgresAddress(url)
    observer = PostgresConnection(address, application: "observer")
  }

  func node(_ name: String) throws -> Node { try Node(name, self) }

  /// Returns the number of rows of a table.
  func count(_ table: String) throws -> Int64? {
    try observer.run("SELECT count(*) FROM statewire.\(table)").integer(0, 0)
  }

  /// Ends the connections of a node.
  func disconnect(_ name: String) throws {
    try observer.run(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'statewire \(name)' AND datname = current_database()
      """)
  }

  /// Makes the lease of a node end now.
  func endLease(_ name: String) throws {
    try observer.run(
      "UPDATE statewire.node SET lease_end = clock_timestamp() - interval '1 s' WHERE name = '\(name)'"
    )
  }

  /// Ends the lease of a node and removes the node, as another one does.
  func bury(_ name: String) throws {
    try endLease(name)
    try observer.run("SELECT statewire.bury(id) FROM statewire.node WHERE name = '\(name)'")
  }
}

/// One node with its journal.
struct Node {
  let ownership: PostgresNode
  let journal: PostgresSessionJournal
  let changes = Record<OwnershipChange>()

  init(
    _ name: String, _ cluster: Cluster, patience: Duration = .seconds(60)
  ) throws {
    ownership = try PostgresNode(
      cluster.address, name: name, address: "\(name):7227", lease: cluster.lease,
      changed: changes.add)
    var options = PostgresSessionJournal.Options()
    options.patience = patience
    journal = PostgresSessionJournal(cluster.address, node: ownership, options: options)
  }

  func claim(_ session: SessionHandle) async throws -> SessionClaim {
    try await withCheckedThrowingContinuation { continuation in
      ownership.claim(session) { continuation.resume(with: $0) }
    }
  }

  func release(_ session: SessionHandle) async throws {
    try await withCheckedThrowingContinuation { continuation in
      journal.beginReleasing([session]) { continuation.resume(with: $0) }
    }
  }

  func leave() async throws {
    try await withCheckedThrowingContinuation { continuation in
      ownership.leave { continuation.resume(with: $0) }
    }
  }

  func nodes() async throws -> [String] {
    try await withCheckedThrowingContinuation { continuation in
      ownership.nodes { continuation.resume(with: $0.map { $0.map(\.name) }) }
    }
  }

  func claimContinuing() async throws -> Set<SessionHandle> {
    try await withCheckedThrowingContinuation { continuation in
      ownership.claimContinuing(limit: 100) { continuation.resume(with: $0.map(Set.init)) }
    }
  }

  func endExpired(at time: Duration) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      ownership.endExpired(at: time, limit: 100) { continuation.resume(with: $0) }
    }
  }

  /// Begins to commit, and records the end.
  func begin(_ entries: [JournalEntry], _ ends: Record<Bool>) {
    journal.begin(entries) { result in
      if case .success = result { ends.add(true) } else { ends.add(false) }
    }
  }
}

extension SessionHandle {
  /// A handle that no other test has.
  static func random() -> SessionHandle {
    var generator = SystemRandomNumberGenerator()
    return SessionHandle(using: &generator)
  }

  var opened: [JournalEntry] {
    [
      JournalEntry(self, .opened(owner: "me")),
      JournalEntry(self, .store("a", .opened(kind: "k", configuration: [], revision: 0))),
    ]
  }

  func step(_ revision: Int) -> JournalEntry {
    JournalEntry(
      self, .store("a", .step(patch: nil, revision: revision, frame: Array("\(revision)".utf8))))
  }
}
