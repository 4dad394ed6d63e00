// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore
internal import StatewireJSON
internal import Transports

// The timeline of a session, and earlier states of its stores.

extension Console {
  /// The greatest number of events in one response.
  private static let maximumEvents = 1_000

  /// Starts to record a session. The recording ends when it has not been read for some seconds.
  func record(
    _ request: ConsoleRequest, _ place: SessionIndex.Place
  ) -> EventLoopFuture<ConsoleResponse> {
    shards.read(place.shard, on: loop) { shard in
      guard let session = shard.session(place.key) else { return false }
      shard.record(session, at: .now)
      return true
    }.map { isRecorded in
      guard let isRecorded else { return .error(.unavailable, "the shard does not respond") }
      return isRecorded ? .value(["recording": true]) : .noSession
    }
  }

  /// Responds with the events after a number, without secrets.
  func respondWithEvents(
    _ request: ConsoleRequest, _ place: SessionIndex.Place
  ) -> EventLoopFuture<ConsoleResponse> {
    let after = request["after"].flatMap { Int($0) } ?? 0
    let secrets = secrets
    return shards.read(place.shard, on: loop) {
      shard -> (first: Int, last: Int, [RecordedEvent])?? in
      guard let session = shard.session(place.key) else { return .some(nil) }
      guard let recording = session.recording else { return .some((0, 0, [])) }
      let events = recording.events(after: after, limit: Self.maximumEvents, at: .now)
      return (recording.first, recording.last, events)
    }.map { copied in
      guard let copied, let found = copied else {
        return .error(.unavailable, "the shard does not respond")
      }
      guard let (first, last, events) = found else { return .noSession }
      let isRecording = first > 0
      return .value([
        "recording": .bool(isRecording), "first": JSONValue(first), "last": JSONValue(last),
        "read": JSONValue(events.last?.number ?? max(after, first - 1)),
        "events": .array(
          events.compactMap { $0.value(secrets[$0.kind]) }),
      ])
    }
  }

  /// Responds with the state of a store at a revision that the recording has, without secrets.
  func respondWithEarlierState(
    _ revision: Int, _ request: ConsoleRequest, _ place: SessionIndex.Place
  ) -> EventLoopFuture<ConsoleResponse> {
    let name = request["store"] ?? ""
    let secrets = secrets
    return shards.read(place.shard, on: loop) { shard in
      shard.session(place.key)?.recording?.state(of: name, at: revision)
    }.map { copied in
      guard let copied else { return .error(.unavailable, "the shard does not respond") }
      guard let earlier = copied, let state = try? earlier.value else {
        return .error(.notFound, "the state at this revision is not recorded")
      }
      return .value([
        "kind": .string(earlier.kind), "revision": JSONValue(revision),
        "state": secrets[earlier.kind].redacted(state),
      ])
    }
  }
}
