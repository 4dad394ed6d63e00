// SPDX-License-Identifier: Apache-2.0

package import ServerCore

/// The status of a server, from before its start until its end; usable on any thread.
public final class ServerStatus: Sendable {
  private struct State {
    var hasStarted = false
    var isDraining = false
    var isLeaseLapsed = false
    /// The reasons why sessions cannot be persisted, by the part of the server that has found out.
    var outages: [Outage: String] = [:]
    /// Runs a closure on the thread of each shard.
    var threads: [ShardThread] = []
    /// The sources of the metrics; nil before the server serves clients.
    var metrics: ServerMetrics?
    /// The shards, for the console.
    var shards: [Shard] = []
  }

  /// A part of the server that cannot work without the database.
  public enum Outage: Sendable, Hashable {
    /// There is no connection to the database.
    case connection
    /// The database refuses commits for a time, so that they wait.
    case refusal
    /// Commits fail.
    case commits
  }

  private let state = Lock(State())

  /// True if the server measures the durations of its turns.
  let measuresTurns: Bool

  /// Creates the status of a server that starts.
  ///
  /// - Parameter measuresTurns: True to measure the durations of turns for the metrics, which costs
  ///   two readings of a clock for each turn.
  public init(measuresTurns: Bool = false) { self.measuresTurns = measuresTurns }

  /// The current metrics. It never waits for a shard, but reads files of the system.
  public var metrics: MetricsReading {
    let metrics = state.withLock { $0.metrics }
    var reading = MetricsReading()
    if let settings = metrics?.settings {
      reading.add(.buildInfo, 1, labels: [settings.programName, settings.programVersion])
    }
    reading.add(.ready, readiness == .ready ? 1 : 0)
    metrics?.add(to: &reading)
    reading.addProcess()
    return reading
  }

  /// The sources of the metrics; nil before the server serves clients.
  package var metricSources: ServerMetrics? { state.withLock { $0.metrics } }

  /// The readiness for new clients. If there are several reasons against it, the first one in this
  /// order counts: draining, starting, lease, database.
  public var readiness: Readiness {
    state.withLock { state in
      if state.isDraining { return .draining }
      if !state.hasStarted { return .starting }
      if state.isLeaseLapsed { return .leaseLapsed }
      if let reason = state.outages[.connection] ?? state.outages[.refusal]
        ?? state.outages[.commits]
      {
        return .withoutDatabase(reason: reason)
      }
      return .ready
    }
  }

  /// Records that a part of the server cannot work without the database, or can work again.
  ///
  /// - Parameters:
  ///   - outage: The part.
  ///   - reason: One line for the operator; nil at the end of the outage.
  /// - Returns: True if the outage begins or ends with this call.
  @discardableResult
  public func set(_ outage: Outage, _ reason: String?) -> Bool {
    let reason = reason.map { String($0.prefix { !$0.isNewline }) }
    return state.withLock { state in
      defer { state.outages[outage] = reason }
      return (state.outages[outage] == nil) != (reason == nil)
    }
  }

  /// Records that the server serves clients on some threads.
  func started(
    _ threads: [ShardThread], _ metrics: ServerMetrics? = nil, shards: [Shard] = []
  ) {
    state.withLock { state in
      (state.hasStarted, state.threads) = (true, threads)
      (state.metrics, state.shards) = (metrics, shards)
    }
  }

  /// A shard, and a function that runs a body on its thread.
  package typealias ServedShard = (
    shard: Shard, execute: @Sendable (@escaping @Sendable () -> Void) -> Void
  )

  /// The shards of the server, in the order of their places; none before it serves clients.
  package var shards: [ServedShard] {
    state.withLock { state in zip(state.shards, state.threads).map { ($0, $1.execute) } }
  }

  /// Records that the server ends.
  func drains() { state.withLock { $0.isDraining = true } }

  /// Records a change of the lease.
  func take(_ change: OwnershipChange) {
    state.withLock { state in
      switch change {
      case .held: state.isLeaseLapsed = false
      case .lapsed, .lost: state.isLeaseLapsed = true
      case .drains: state.isDraining = true
      }
    }
  }

  /// Calls `body`, on any thread, when the threads of all shards have performed a job.
  package func whenAlive(_ body: @escaping @Sendable () -> Void) {
    let threads = state.withLock { $0.threads }
    guard !threads.isEmpty else { return body() }
    let rest = Lock(threads.count)
    for thread in threads {
      thread.execute {
        let isLast = rest.withLock { rest in
          rest -= 1
          return rest == 0
        }
        if isLast { body() }
      }
    }
  }
}
