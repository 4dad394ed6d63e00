// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON
public import StatewireProtocol

extension Connection: Frontend {
  public func storeEvent(_ store: String, _ event: UnsafeRawBufferPointer) {
    notify(StoreEvent.method) { writer in
      writer.raw("\"store\":")
      writer.value(store)
      writer.raw(",\"event\":")
      writer.raw(event)
    }
  }

  public func cutOff() { drop() }

  public func storeClosed(_ store: String) {
    notify(StoreClosed.method) { writer in
      writer.raw("\"store\":")
      writer.value(store)
      writer.raw(",\"reason\":")
      writer.value(StoreClosed.Reason.closed)
    }
  }

  public func presenceChanged(_ presence: Presence) {
    notify(SessionPresence.method) { writer in
      writer.raw("\"frontend\":")
      writer.value(presence.frontend)
      writer.key("change")
      writer.value(presence.change.rawValue)
      writer.key("role")
      writer.value(presence.role.rawValue)
      writer.key("attached")
      writer.value(presence.attached)
    }
  }

  public func sessionClosed(_ session: SessionHandle, reason: SessionClosed.Reason) {
    notify(SessionClosed.method) { writer in
      writer.raw("\"session\":")
      writer.value(session.description)
      writer.key("reason")
      writer.value(reason.rawValue)
    }
    // What an evicted connection still sends is nobody's any more.
    if reason == .evicted { close() }
  }

  /// Writes a notification.
  /// - Parameter body: Writes the members of its parameters.
  func notify(_ method: StaticString, _ body: (inout JSONWriter) -> Void) {
    write { Self.notify(method, to: &$0, body) }
  }

  @inline(__always)
  static func notify(
    _ method: StaticString, to writer: inout JSONWriter, _ body: (inout JSONWriter) -> Void
  ) {
    writer.raw("{\"jsonrpc\":\"2.0\",\"method\":\"")
    writer.raw(method)
    writer.raw("\",\"params\":{")
    body(&writer)
    writer.raw("}}")
  }
}
