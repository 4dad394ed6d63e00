// SPDX-License-Identifier: Apache-2.0

internal import ServerCore
internal import StatewireJSON
internal import Transports

/// A limit, and its use at this time.
struct Gauge {
  let name: String
  let value: Int
  let limit: Int
  /// True for numbers of bytes.
  var isBytes = false

  /// The gauge as JSON.
  var json: JSONValue {
    [
      "name": .string(name), "value": JSONValue(value), "limit": JSONValue(limit),
      "unit": isBytes ? "bytes" : nil,
    ]
  }
}

extension Console {
  /// The limits of the server.
  ///
  /// - Parameters:
  ///   - usages: The uses of the shards that respond.
  ///   - limits: The limits of sessions.
  func gauges(_ usages: [ShardUsage], _ limits: SessionLimits) -> [Gauge] {
    func sum(_ number: KeyPath<ShardUsage, Int>) -> Int {
      usages.reduce(0) { $0 + $1[keyPath: number] }
    }
    var gauges = [
      Gauge(name: "Sessions with a handle", value: sum(\.sessions), limit: limits.sessions),
      Gauge(name: "Memory of sessions", value: sum(\.bytes), limit: limits.bytes, isBytes: true),
      Gauge(
        name: "States kept aside", value: usages.first?.keptBytes ?? 0, limit: limits.keptBytes,
        isBytes: true),
      Gauge(
        name: "Recorded sessions", value: sum(\.recordings),
        limit: Shard.maximumRecordings * usages.count),
      Gauge(name: "Copies", value: copies.count, limit: StoreCopies.maximum),
    ]
    guard let sources = status.metricSources else { return gauges }
    let server = sources.settings.limits
    gauges.insert(
      Gauge(name: "Connections", value: sources.openConnections, limit: server.connections), at: 0)
    gauges.insert(
      Gauge(
        name: "Buffers of connections", value: sum(\.bufferBytes), limit: server.bufferBytes,
        isBytes: true), at: 3)
    if let journal = sources.journal {
      gauges.append(
        Gauge(
          name: "Waiting for the journal", value: journal.metrics.waitingBytes,
          limit: journal.maximumBytes, isBytes: true))
    }
    return gauges
  }
}

extension SessionSummary {
  /// The limits of the session and of its identity.
  func gauges(_ limits: SessionLimits) -> [Gauge] {
    var gauges = [
      Gauge(name: "Memory", value: bytes, limit: limits.bytesPerSession, isBytes: true),
      Gauge(name: "Stores", value: storeCount, limit: limits.storesPerSession),
      Gauge(name: "Names of frontends", value: frontendNames, limit: limits.frontendNames),
    ]
    if identity != nil {
      gauges.append(
        Gauge(
          name: "Memory of its identity on the shard", value: identityBytes,
          limit: limits.bytesPerIdentity ?? limits.bytes / 2, isBytes: true))
    }
    if let identitySessions {
      gauges.append(
        Gauge(
          name: "Sessions of its identity", value: identitySessions,
          limit: limits.sessionsPerIdentity ?? limits.sessions))
    }
    return gauges
  }
}
