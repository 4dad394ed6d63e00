// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore
internal import StatewireJSON
internal import Transports

// The list of sessions, one session with its stores, and the state of a store.

extension Console {
  /// The largest page of the list.
  private static let maximumPage = 200
  /// The number of sessions that one job of a shard copies.
  private static let sessionsPerJob = 200
  /// The number of sessions that a search reads for one response. Then the page asks for more.
  private static let sessionsPerSearch = 10_000
  /// The largest state that is shown.
  private static let maximumStateBytes = 1 << 20

  // MARK: The list

  /// A page of the list that is being read.
  private struct Reading {
    let search: String
    let limit: Int
    /// The id after which the list begins.
    var after: String
    /// The shards whose sessions are to be read.
    var shards: ArraySlice<Int>
    var found: [JSONValue] = []
    /// The number of sessions that were read.
    var read = 0
    /// The last id that was read.
    var last: String?
    var isComplete = false
  }

  /// Responds with a page of the list of sessions, sorted by their ids.
  func sessions(_ request: ConsoleRequest) -> EventLoopFuture<ConsoleResponse> {
    let after = request["after"] ?? ""
    let shards = shards
    let first = after.split(separator: "-").first.flatMap { Int($0) } ?? 0
    let reading = Reading(
      search: (request["search"] ?? "").lowercased(),
      limit: max(1, min(request["limit"].flatMap { Int($0) } ?? 100, Self.maximumPage)),
      after: after,
      shards: shards.numbers.drop { $0 < first })
    return read(reading, shards).map { reading in
      guard let reading else { return .error(.unavailable, "a shard does not respond") }
      return .value([
        "sessions": .array(reading.found),
        "next": reading.isComplete ? nil : reading.last.map { .string($0) } ?? nil,
      ])
    }
  }

  /// Reads the sessions of one shard after another until the page is full.
  private func read(
    _ reading: Reading, _ shards: ServedShards
  ) -> EventLoopFuture<Reading?> {
    guard let shard = reading.shards.first else {
      var reading = reading
      reading.isComplete = true
      return loop.makeSucceededFuture(reading)
    }
    let bound = NIOLoopBound(self, eventLoop: loop)
    return index.sessions(of: shard, shards, on: loop).flatMap { sessions in
      let console = bound.value
      guard let sessions else { return console.loop.makeSucceededFuture(nil) }
      let rest = sessions.drop { $0.id <= reading.after }
      return console.read(rest[...], of: shard, reading, shards)
    }
  }

  /// Reads the next sessions of a shard.
  private func read(
    _ sessions: ArraySlice<(id: String, place: SessionIndex.Place)>, of shard: Int,
    _ reading: Reading, _ shards: ServedShards
  ) -> EventLoopFuture<Reading?> {
    var reading = reading
    if sessions.isEmpty {
      reading.shards.removeFirst()
      reading.after = ""
      return read(reading, shards)
    }
    if reading.found.count >= reading.limit || reading.read >= Self.sessionsPerSearch {
      return loop.makeSucceededFuture(reading)
    }
    let job = Array(sessions.prefix(Self.sessionsPerJob))
    let bound = NIOLoopBound((console: self, rest: sessions), eventLoop: loop)
    let soFar = reading
    return shards.read(shard, on: loop) { shard in
      job.map { shard.session($0.place.key)?.summary(isolation: shard) }
    }.flatMap { summaries in
      let (console, rest) = bound.value
      guard let summaries else { return console.loop.makeSucceededFuture(nil) }
      var reading = soFar
      for ((id, place), summary) in zip(job, summaries) {
        guard reading.found.count < reading.limit else { break }
        reading.last = id
        reading.read += 1
        guard let summary, summary.matches(reading.search) else { continue }
        reading.found.append(console.value(of: summary, id: id, at: place))
      }
      return console.read(
        rest.drop { $0.id <= reading.last ?? "" }, of: shard, reading, shards)
    }
  }

  // MARK: One session

  /// Responds with a session and its stores.
  func respondWithSession(
    _ request: ConsoleRequest, _ place: SessionIndex.Place
  ) -> EventLoopFuture<ConsoleResponse> {
    let bound = NIOLoopBound(self, eventLoop: loop)
    return shards.read(place.shard, on: loop) { shard in
      shard.session(place.key).map {
        ($0.summary(isolation: shard), $0.storeSummaries, shard.copyProgress, shard.limits)
      }
    }.map { copied in
      guard let copied else { return .error(.unavailable, "the shard does not respond") }
      guard let (summary, stores, progress, limits) = copied else { return .noSession }
      let console = bound.value
      var value = console.value(of: summary, id: place.id, at: place).object ?? [:]
      value["stores"] = .array(stores.map { $0.value(limits) })
      value["gauges"] = .array(summary.gauges(limits).map(\.json))
      value["queueLimit"] =
        console.status.metricSources.map { JSONValue($0.settings.limits.outboxBytes) } ?? .null
      if let progress { value["progress"] = progress.value }
      return .value(.object(value))
    }
  }

  /// Returns a session as JSON.
  private func value(
    of summary: SessionSummary, id: String, at place: SessionIndex.Place
  ) -> JSONValue {
    var value = summary.value(id: id, shard: place.shard)
    if let copy = copies[place.shard] {
      value["copy"] = copy.value
      value["shard"] = nil
      value["handle"] = .null
    }
    return .object(value)
  }

  /// Responds with the view state of a store, without secrets.
  func respondWithState(
    _ request: ConsoleRequest, _ place: SessionIndex.Place
  ) -> EventLoopFuture<ConsoleResponse> {
    if let revision = request["revision"].flatMap({ Int($0) }) {
      return respondWithEarlierState(revision, request, place)
    }
    let name = request["store"] ?? ""
    let secrets = secrets
    return shards.read(place.shard, on: loop) { shard in
      // The state is written below, on the thread of the admin interface.
      shard.session(place.key).map { $0.inspectState(of: name) }
    }.map { copied in
      guard let copied else { return .error(.unavailable, "the shard does not respond") }
      guard let found = copied else { return .noSession }
      guard let (kind, revision, state) = found else {
        return .error(.notFound, "the session has no open store with this name")
      }
      let bytes = state.expectedBytes
      var value: JSONObject = [
        "kind": .string(kind), "revision": JSONValue(revision), "bytes": JSONValue(bytes),
      ]
      if bytes <= Self.maximumStateBytes {
        var writer = JSONWriter(reserving: bytes)
        state.write(to: &writer)
        guard let whole = try? JSONValue(parsing: writer.bytes(), limits: .init(maximumDepth: 512))
        else { return .error(.unavailable, "the state cannot be read") }
        value["state"] = secrets[kind].redacted(whole)
      }
      return .value(.object(value))
    }
  }
}

extension JSONValue {
  /// Creates a number.
  init(_ number: Int) { self = .number(JSONNumber(Int64(number))) }

  /// Creates a time in milliseconds; the largest possible number for a longer one.
  init(milliseconds time: Duration) { self.init(time, in: .milliseconds(1)) }

  /// Creates a time in microseconds; the largest possible number for a longer one.
  init(microseconds time: Duration) { self.init(time, in: .microseconds(1)) }

  private init(_ time: Duration, in unit: Duration) {
    self = .number(JSONNumber(Int64(clamping: time.attoseconds / unit.attoseconds)))
  }
}

extension SessionSummary {
  /// Returns true if a text of the session contains a search text, ignoring case.
  fileprivate func matches(_ search: String) -> Bool {
    if search.isEmpty { return true }
    let texts = [handle, identity] + participants.map(\.name)
    return texts.contains { $0?.lowercased().contains(search) ?? false }
  }

  /// Returns the summary as JSON.
  fileprivate func value(id: String, shard: Int) -> JSONObject {
    [
      "id": .string(id), "shard": JSONValue(shard), "handle": handle.map { .string($0) } ?? nil,
      "identity": identity.map { .string($0) } ?? nil, "shared": .bool(isOwnerOfShared),
      "ageMilliseconds": JSONValue(milliseconds: age),
      "expiresInMilliseconds": expiresIn.map { JSONValue(milliseconds: $0) } ?? nil,
      "bytes": JSONValue(bytes), "storeCount": JSONValue(storeCount),
      "participantCount": JSONValue(participantCount),
      "participants": .array(
        participants.map { participant in
          [
            "client": .string("\(participant.client)"),
            "name": participant.name.map { .string($0) } ?? nil,
            "role": participant.isDriver ? "driver" : "observer",
            "active": .bool(participant.isActive),
            "subscriptions": JSONValue(participant.subscriptions),
            "queuedBytes": JSONValue(participant.queuedBytes),
          ]
        }),
    ]
  }
}

extension StoreSummary {
  /// Returns the summary as JSON.
  fileprivate func value(_ limits: SessionLimits) -> JSONValue {
    [
      "name": .string(name), "kind": .string(kind), "revision": JSONValue(revision),
      "closed": .bool(isClosed), "shared": .bool(isShared),
      "subscriptions": JSONValue(subscriptions),
      "history": Gauge(
        name: "Updates for reconnecting clients", value: historyBytes, limit: limits.historyBytes,
        isBytes: true
      ).json,
    ]
  }
}
