// SPDX-License-Identifier: Apache-2.0

internal import ServerCore

/// The sources of the metrics of a running server.
///
/// Each shard changes its own numbers, and a snapshot reads them without asking the shard. So an
/// input neither waits nor writes anything that shards share, and a busy shard does not delay a
/// snapshot. The numbers of one snapshot may be from slightly different times.
struct ServerMetrics: Sendable {
  let settings: ServerSettings
  let group: ShardGroup
  let shards: [ShardMetrics]
  let connections: [ConnectionMetrics]
  /// The journal; nil if sessions are not persisted.
  let journal: JournalWriter?

  /// Adds the current values to a snapshot.
  func add(to snapshot: inout MetricsSnapshot) {
    addConnections(to: &snapshot)
    snapshot.add(.sessions, group.sessionCount)
    addStores(to: &snapshot)
    addErrors(to: &snapshot)
    snapshot.add(.effectsRunning, sum(\.effects.running))
    snapshot.add(.effectsStarted, sum(\.effects.begun))
    snapshot.add(.effectsFailed, sum(\.effects.failed))
    snapshot.add(
      .turns,
      shards.enumerated().compactMap { index, shard in
        shard.turns.map { .init(labels: ["\(index)"], value: .histogram($0.reading)) }
      })
    if let journal { add(journal.metrics, to: &snapshot) }
  }

  private func sum(_ number: KeyPath<ShardMetrics, MetricValue>) -> Int {
    shards.reduce(0) { $0 + $1[keyPath: number].value }
  }

  private func addConnections(to snapshot: inout MetricsSnapshot) {
    func add(_ metric: MetricDescription, _ number: KeyPath<TransportMetrics, MetricValue>) {
      snapshot.add(
        metric,
        by: connections.flatMap { loop in
          ClientTransport.allCases.map { ($0.name, loop[$0][keyPath: number].value) }
        })
    }
    add(.connections, \.connections)
    add(.openedConnections, \.openedConnections)
    add(.receivedBytes, \.receivedBytes)
    add(.sentBytes, \.sentBytes)
  }

  private func addStores(to snapshot: inout MetricsSnapshot) {
    func add(_ metric: MetricDescription, _ number: KeyPath<KindMetrics, MetricValue>) {
      snapshot.add(
        metric,
        by: shards.flatMap { shard in
          shard.kinds.map { ($0.name ?? "other", $0[keyPath: number].value) }
        })
    }
    add(.stores, \.stores)
    add(.inputs, \.inputs)
    add(.updates, \.updates)
    snapshot.add(.updatesSent, sum(\.updatesSent))
    snapshot.add(.updatesCoalesced, sum(\.updatesCoalesced))
  }

  private func addErrors(to snapshot: inout MetricsSnapshot) {
    snapshot.add(.errors, by: shards.flatMap { $0.errors.map { ($0, $1.value) } })
    snapshot.add(.exceeded, by: shards.flatMap { $0.exceeded.map { ($0, $1.value) } })
  }

  private func add(_ journal: JournalMetrics, to snapshot: inout MetricsSnapshot) {
    snapshot.add(.journalWaitingTurns, journal.waitingTurns)
    snapshot.add(.journalWaitingBytes, journal.waitingBytes)
    snapshot.add(.journalCommittedTurns, journal.ended.committedTurns)
    snapshot.add(.journalCommittedBytes, journal.ended.committedBytes)
    snapshot.add(.journalFailedTurns, journal.ended.failedTurns)
    snapshot.add(
      .journalTransactions, [.init(labels: [], value: .histogram(journal.durations))])
  }
}
