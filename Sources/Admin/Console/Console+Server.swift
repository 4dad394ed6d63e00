// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore
internal import StatewireJSON
internal import Transports

// The server as a whole: its shards, its kinds, and the use of its limits.

extension Console {
  /// Responds with the parts of the server.
  func server() -> EventLoopFuture<ConsoleResponse> {
    let shards = shards
    let uses = shards.shards.indices.map { index in
      shards.read(index, on: loop) { $0.usage }
    }
    let readiness = status.readiness
    let bound = NIOLoopBound(self, eventLoop: loop)
    return EventLoopFuture.whenAllSucceed(uses, on: loop).map { uses in
      guard let first = shards.shards.first?.shard else { return .noSession }
      let known = uses.compactMap(\.self)
      return .value([
        "readiness": .string(readiness.line), "isTest": .bool(known.contains { $0.isTest }),
        "shards": .array(
          uses.map { use in
            use.map { ["sessions": JSONValue($0.sessions), "clients": JSONValue($0.clients)] }
              ?? nil
          }),
        "gauges": .array(bound.value.gauges(known, first.limits).map(\.json)),
        "kinds": .array(
          first.kinds.map { kind in
            [
              "name": .string(kind.name), "shared": .bool(kind.isShared),
              "problem": kind.problem().map(JSONValue.string) ?? nil,
            ]
          }),
      ])
    }
  }
}
