// SPDX-License-Identifier: Apache-2.0

package import ServerCore

/// The sources of the metrics of a running server.
///
/// Each shard changes its own numbers, and a reading reads them without asking the shard. So an
/// input neither waits nor writes anything that shards share, and a busy shard does not delay a
/// reading. The numbers of one reading may be from slightly different times.
package struct ServerMetrics: Sendable {
  package let settings: ServerSettings
  let group: ShardGroup
  let shards: [ShardMetrics]
  let connections: [ConnectionMetrics]
  /// The journal; nil if sessions are not persisted.
  package let journal: JournalWriter?

  /// The number of open connections.
  package var openConnections: Int {
    connections.reduce(0) { sum, loop in
      ClientTransport.allCases.reduce(sum) { $0 + loop[$1].connections.value }
    }
  }

  /// Adds the current values to a reading.
  func add(to reading: inout MetricsReading) {
    addConnections(to: &reading)
    reading.add(.sessions, group.sessionCount)
    addStores(to: &reading)
    addErrors(to: &reading)
    reading.add(.effectsRunning, sum(\.effects.running))
    reading.add(.effectsStarted, sum(\.effects.begun))
    reading.add(.effectsFailed, sum(\.effects.failed))
    reading.add(
      .turns,
      shards.enumerated().compactMap { index, shard in
        shard.turns.map { .init(labels: ["\(index)"], value: .histogram($0.reading)) }
      })
    if let journal { add(journal.metrics, to: &reading) }
  }

  private func sum(_ number: KeyPath<ShardMetrics, MetricValue>) -> Int {
    shards.reduce(0) { $0 + $1[keyPath: number].value }
  }

  private func addConnections(to reading: inout MetricsReading) {
    func add(_ metric: MetricDescription, _ number: KeyPath<TransportMetrics, MetricValue>) {
      reading.add(
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

  private func addStores(to reading: inout MetricsReading) {
    func add(_ metric: MetricDescription, _ number: KeyPath<KindMetrics, MetricValue>) {
      reading.add(
        metric,
        by: shards.flatMap { shard in
          shard.kinds.map { ($0.name ?? "other", $0[keyPath: number].value) }
        })
    }
    add(.stores, \.stores)
    add(.inputs, \.inputs)
    add(.updates, \.updates)
    reading.add(.updatesSent, sum(\.updatesSent))
    reading.add(.updatesCoalesced, sum(\.updatesCoalesced))
  }

  private func addErrors(to reading: inout MetricsReading) {
    reading.add(.errors, by: shards.flatMap { $0.errors.map { ($0, $1.value) } })
    reading.add(.exceeded, by: shards.flatMap { $0.exceeded.map { ($0, $1.value) } })
  }

  private func add(_ journal: JournalMetrics, to reading: inout MetricsReading) {
    reading.add(.journalWaitingTurns, journal.waitingTurns)
    reading.add(.journalWaitingBytes, journal.waitingBytes)
    reading.add(.journalCommittedTurns, journal.ended.committedTurns)
    reading.add(.journalCommittedBytes, journal.ended.committedBytes)
    reading.add(.journalFailedTurns, journal.ended.failedTurns)
    reading.add(
      .journalTransactions, [.init(labels: [], value: .histogram(journal.durations))])
  }
}
