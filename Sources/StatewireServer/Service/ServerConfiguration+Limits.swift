// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import Documents
internal import Transports

extension ServerConfiguration {
  /// Checks the limits and the number of shards that a program sets; the command line checks the values of
  /// its options.
  ///
  /// - Throws: `StartupError` that names the property.
  func checkLimits() throws(StartupError) {
    if limits.depth > Self.maximumDepth {
      throw StartupError(
        "limits.depth is \(limits.depth); the limit must be at most \(Self.maximumDepth)")
    }
    if let shards { try Server.check(shards: shards) }
    for (value, path) in counts where value < 1 {
      throw StartupError("\(path) is \(value); the limit must be at least 1")
    }
    for (value, path) in times where value < .zero {
      throw StartupError("\(path) is \(value); the time must not be negative")
    }
    if sessionLimits.historyBytes < 0 {
      throw StartupError(
        "sessionLimits.historyBytes is \(sessionLimits.historyBytes); the limit must be at least 0")
    }
  }

  /// Deeper values could overflow the stack of a thread.
  static let maximumDepth = 1000

  private var counts: [(Int, path: String)] {
    let counts: [(Int?, path: String)] = [
      (limits.frameBytes, "limits.frameBytes"),
      (limits.depth, "limits.depth"),
      (limits.batchLength, "limits.batchLength"),
      (limits.openRequests, "limits.openRequests"),
      (limits.outboxBytes, "limits.outboxBytes"),
      (limits.bufferBytes, "limits.bufferBytes"),
      (limits.connections, "limits.connections"),
      (limits.connectionsPerAddress, "limits.connectionsPerAddress"),
      (limits.connectionsPerIdentity, "limits.connectionsPerIdentity"),
      (limits.inputsPerSecond, "limits.inputsPerSecond"),
      (limits.bytesPerSecond, "limits.bytesPerSecond"),
      (sessionLimits.storesPerSession, "sessionLimits.storesPerSession"),
      (sessionLimits.storeNameBytes, "sessionLimits.storeNameBytes"),
      (sessionLimits.bytesPerSession, "sessionLimits.bytesPerSession"),
      (sessionLimits.bytesPerIdentity, "sessionLimits.bytesPerIdentity"),
      (sessionLimits.bytes, "sessionLimits.bytes"),
      (sessionLimits.sessions, "sessionLimits.sessions"),
      (sessionLimits.sessionsPerIdentity, "sessionLimits.sessionsPerIdentity"),
      (sessionLimits.frontendNames, "sessionLimits.frontendNames"),
      (sessionLimits.frontendNameBytes, "sessionLimits.frontendNameBytes"),
      (builtin.maximumSourceBytes, "builtin.maximumSourceBytes"),
      (builtin.maximumCacheBytes, "builtin.maximumCacheBytes"),
      (builtin.textLimits.titleBytes, "builtin.textLimits.titleBytes"),
      (builtin.textLimits.fieldBytes, "builtin.textLimits.fieldBytes"),
      (builtin.todoLimits.list.todos, "builtin.todoLimits.list.todos"),
      (builtin.todoLimits.list.bytes, "builtin.todoLimits.list.bytes"),
      (builtin.todoLimits.database.todos, "builtin.todoLimits.database.todos"),
      (builtin.todoLimits.database.bytes, "builtin.todoLimits.database.bytes"),
      (builtin.todoLimits.session.todos, "builtin.todoLimits.session.todos"),
      (builtin.todoLimits.session.bytes, "builtin.todoLimits.session.bytes"),
      (builtin.todoLimits.todosPerIdentity, "builtin.todoLimits.todosPerIdentity"),
      (builtin.todoLimits.bytesPerIdentity, "builtin.todoLimits.bytesPerIdentity"),
      (builtin.todoLimits.memory.todos, "builtin.todoLimits.memory.todos"),
      (builtin.todoLimits.memory.bytes, "builtin.todoLimits.memory.bytes"),
      (documentLimits.rowBytes, "documentLimits.rowBytes"),
      (documentLimits.rows, "documentLimits.rows"),
      (documentLimits.tableBytes, "documentLimits.tableBytes"),
      (documentLimits.tables, "documentLimits.tables"),
      (documentLimits.bytes, "documentLimits.bytes"),
    ]
    return counts.compactMap { value, path in value.map { ($0, path) } }
  }

  private var times: [(Duration, path: String)] {
    let times: [(Duration?, path: String)] = [
      (limits.timeToFirstRequest, "limits.timeToFirstRequest"),
      (limits.frameTime, "limits.frameTime"),
      (limits.idleTime, "limits.idleTime"),
      (limits.unreadTime, "limits.unreadTime"),
      (limits.pingTime, "limits.pingTime"),
      (sessionLimits.timeToLive, "sessionLimits.timeToLive"),
      (sessionLimits.sleepAfter, "sessionLimits.sleepAfter"),
    ]
    return times.compactMap { value, path in value.map { ($0, path) } }
  }
}
