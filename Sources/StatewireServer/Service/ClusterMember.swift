// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import PostgresConnections
internal import PostgresSessionJournal
internal import PostgresStorage
internal import ServerCore
internal import Sessions
internal import StateMachines
internal import Transports

/// This server among those that share a database.
final class ClusterMember: Sendable {
  let membership: NodeMembership
  let journal: PostgresSessionJournal
  /// The todo lists, documents and ledger of all nodes.
  let storage: PostgresStorage
  private let node: PostgresNode
  private let changes: Changes

  /// The changes of the lease, which begin before the server.
  private final class Changes: Sendable {
    private struct State {
      var server: Server?
      var early: [OwnershipChange] = []
      var whenDrained: (@Sendable () -> Void)?
      var drains = false
    }

    private let state = Lock(State())
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func add(_ change: OwnershipChange) {
      switch change {
      case .held: logger.notice("renewed the lease of this node")
      case .lapsed:
        logger.error(
          "the lease of this node expired; nothing is sent to clients until it is renewed")
      case .lost:
        logger.error(
          "other nodes own the sessions of this node; disconnecting its clients")
      case .drains: return drain()
      }
      state.withLock { state in
        if let server = state.server {
          server.ownershipChanged(change)
        } else {
          state.early.append(change)
        }
      }
    }

    private func drain() {
      let (isFirst, body) = state.withLock { state in
        defer { state.drains = true }
        return (!state.drains, state.whenDrained)
      }
      if isFirst {
        logger.notice("draining: releasing the sessions of this node, then exiting")
      }
      body?()
    }

    func serve(_ server: Server) {
      state.withLock { state in
        state.server = server
        for change in state.early { server.ownershipChanged(change) }
        state.early = []
      }
    }

    func whenDrained(_ body: @escaping @Sendable () -> Void) {
      let drains = state.withLock { state in
        state.whenDrained = body
        return state.drains
      }
      if drains { body() }
    }

    func end() {
      state.withLock { state in
        state.server = nil
        state.whenDrained = nil
      }
    }
  }

  /// Joins the nodes of a database. Blocks until that has succeeded or failed.
  ///
  /// - Throws: `StartupError`.
  init(
    _ cluster: ClusterConfiguration, _ configuration: ServerConfiguration, _ status: ServerStatus
  ) throws(StartupError) {
    let logger = configuration.logger
    let given = try cluster.secretFile.map { path throws(StartupError) in
      try Self.secret(path, logger)
    }
    let changes = Changes(logger)
    self.changes = changes
    let name = cluster.name
    do throws(PostgresError) {
      let secret: String
      if let given {
        secret = given
      } else {
        let table = try NodeTable(cluster.database)
        defer { table.close() }
        secret = try table.secret()
      }
      guard let secret = NodeSecret(secret) else {
        throw PostgresError(
          .refused,
          "the secret of the nodes has \(NodeSecret.minimumBytes) or more visible ASCII characters")
      }
      node = try PostgresNode(
        cluster.database, name: name, address: "\(cluster.address)", lease: cluster.lease,
        changed: changes.add)
      var membership = NodeMembership(ownership: node, secret: secret, lease: cluster.lease)
      membership.authority = cluster.authority
      membership.isInsecure = cluster.isInsecure
      if let files = configuration.certificate {
        membership.certificate = (files.certificate, files.key)
      }
      self.membership = membership
    } catch {
      throw StartupError("cannot join the nodes of the database: \(error)", cause: error)
    }
    journal = PostgresSessionJournal(cluster.database, node: node) { change in
      switch change {
      case .connected:
        status.set(.connection, nil)
        logger.notice("connected to the session database")
      case .failed(let error):
        guard status.set(.connection, "\(error)") else { break }
        logger.error("the session database does not respond; clients wait: \(error)")
      case .notified: break
      }
    } refused: { error in
      if let error {
        status.set(.refusal, "\(error)")
        logger.error(
          "the session database refuses commits; clients wait; check its disk and its log: \(error)"
        )
      } else {
        status.set(.refusal, nil)
        if status.readiness == .ready {
          logger.notice("the session database accepts commits again")
        }
      }
    }
    var options = PostgresStorage.Options()
    options.todoLimits = configuration.builtin.todoLimits
    options.documentLimits = configuration.documentLimits
    storage = PostgresStorage(cluster.database, name: name, options: options) { failure in
      logger.error("\(failure)")
    }
  }

  /// Reads the secret in a file, without its contents in an error.
  private static func secret(_ path: String, _ logger: Logger) throws(StartupError) -> String {
    let file = try SecretFile(path, "the secret", maximumBytes: 4 << 10, logger)
    let isBlank = { (byte: UInt8) in " \t\r\n".utf8.contains(byte) }
    let word = file.bytes.drop(while: isBlank).prefix { !isBlank($0) }
    return String(decoding: word, as: UTF8.self)
  }

  /// Passes changes of the lease to a server.
  func serve(_ server: Server) { changes.serve(server) }

  /// Calls `body` when an operator drains the node.
  func whenDrained(_ body: @escaping @Sendable () -> Void) { changes.whenDrained(body) }

  /// Gives the lease up, because the server could not start.
  func leave() async {
    changes.end()
    let left = Latch()
    node.leave { _ in left.signal() }
    await left.wait()
    close()
  }

  /// Ends the connections, after the server has ended.
  func close() {
    changes.end()
    storage.close()
    journal.closeAndWait()
    node.closeAndWait()
  }
}
