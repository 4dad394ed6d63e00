// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore

/// The loaded sessions of all shards by the ids that the console shows.
///
/// It belongs to the loop of the admin interface. A shard only copies its keys; their ids are made
/// and sorted here.
final class SessionIndex {
  /// A session and the place of its shard.
  struct Place: Sendable {
    let shard: Int
    let key: SessionKey

    /// The id of the session: the place of its shard, and its id there.
    var id: String { "\(shard)-\(key.publicID)" }
  }

  private var places: [String: Place] = [:]

  /// Returns the sessions of a shard as they are now, sorted by their ids; nil if the shard does not
  /// respond.
  func sessions(
    of shard: Int, _ shards: ServedShards, on loop: any EventLoop
  ) -> EventLoopFuture<[(id: String, place: Place)]?> {
    let bound = NIOLoopBound(self, eventLoop: loop)
    return shards.read(shard, on: loop) { $0.sessionKeys }.map { keys in
      guard let keys else { return nil }
      let index = bound.value
      index.places = index.places.filter { $0.value.shard != shard }
      let found = keys.map { key in
        let place = Place(shard: shard, key: key)
        return (id: place.id, place: place)
      }
      for (id, place) in found { index.places[id] = place }
      return found.sorted { $0.id < $1.id }
    }
  }

  /// Returns the session with an id; nil if it is not loaded.
  func place(
    of id: String, _ shards: ServedShards, on loop: any EventLoop
  ) -> EventLoopFuture<Place?> {
    if let known = places[id] { return loop.makeSucceededFuture(known) }
    guard let shard = id.split(separator: "-").first.flatMap({ Int($0) }) else {
      return loop.makeSucceededFuture(nil)
    }
    let bound = NIOLoopBound(self, eventLoop: loop)
    return sessions(of: shard, shards, on: loop).map { _ in bound.value.places[id] }
  }
}
