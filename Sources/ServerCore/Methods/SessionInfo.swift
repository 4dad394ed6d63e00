// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension SessionInfo {
  /// Carries out `session/info`.
  static func respond(_ context: MethodContext, _ shard: isolated Shard) -> MethodResult {
    let (participant, contents) = (context.participant, context.session.contents)
    let timeToLive = shard.limits.timeToLive
    return .members { writer in
      writer.key("session")
      writer.value(participant.session.handle?.description)
      writer.key("frontend")
      writer.value(participant.name)
      writer.key("role")
      writer.value(participant.role.rawValue)
      writer.key("stores")
      writer.beginArray()
      for store in contents.stores {
        writer.beginObject()
        writer.key("store")
        writer.value(store.name)
        writer.key("kind")
        writer.value(store.kind)
        writer.key("revision")
        writer.value(store.revision)
        writer.key("closed")
        writer.value(store.isClosed)
        writer.endObject()
      }
      writer.endArray()
      writer.key("frontends")
      writer.beginArray()
      for other in contents.participants {
        writer.beginObject()
        writer.key("frontend")
        writer.value(other.name)
        writer.key("role")
        writer.value(other.role.rawValue)
        writer.key("phase")
        writer.value(other.phase == .active ? "active" : "inactive")
        writer.key("self")
        writer.value(other === participant)
        writer.endObject()
      }
      writer.endArray()
      writer.key("outlives")
      writer.value(Seconds(timeToLive))
    }
  }
}
