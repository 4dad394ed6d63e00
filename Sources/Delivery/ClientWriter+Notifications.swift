// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON
public import StatewireProtocol
internal import Wire

// The events of a session, written as notifications.
extension ClientWriter: Client {
  /// Writes a `store/event` notification.
  public func storeEvent(_ store: String, _ event: UnsafeRawBufferPointer) {
    notify(StoreEvent.method) { writer in
      writer.raw("\"store\":")
      writer.value(store)
      writer.raw(",\"event\":")
      writer.raw(event)
    }
  }

  /// Discards everything that was not passed to the output, and disconnects the client.
  public func discard() {
    discardWritten()
    out.removeAll(keepingCapacity: false)
    disconnect()
  }

  /// Writes a `store/closed` notification.
  public func storeClosed(_ store: String) {
    notify(StoreClosed.method) { writer in
      writer.raw("\"store\":")
      writer.value(store)
      writer.raw(",\"reason\":")
      writer.value(StoreClosed.Reason.closed)
    }
  }

  /// Writes a `session/presence` notification.
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

  /// Writes a `session/closed` notification; after an eviction, the connection ends.
  public func sessionClosed(_ session: SessionHandle, reason: SessionClosed.Reason) {
    notify(SessionClosed.method) { writer in
      writer.raw("\"session\":")
      writer.value(session.description)
      writer.key("reason")
      writer.value(reason.rawValue)
    }
    // Later messages of an evicted client belong to no session.
    if reason == .evicted { delegate.evicted() }
  }

  /// Writes a `session/traced` notification; skips it while the client does not read.
  public func traced(_ line: TraceLine) {
    // Trace lines are not queued. A gap in their numbers shows the client that lines are missing.
    guard !isCongested else { return }
    let (record, operation) = (line.record, line.record.operation)
    notify(SessionTraced.method) { writer in
      writer.raw("\"seq\":")
      writer.value(line.number)
      writer.key("store")
      writer.value(line.store)
      writer.key("stage")
      writer.value(operation.stage.rawValue)
      writer.key("operation")
      writer.value(operation.name)
      writer.key("number")
      writer.value(operation.number)
      writer.key("hook")
      writer.value(record.moment.rawValue)
      writer.key("input")
      writer.value(record.input)
      writer.key("action")
      writer.value(record.action)
      writer.key("failed")
      writer.value(record.failed)
      writer.key("revision")
      writer.value(record.revision)
    }
  }

  /// Writes a notification.
  ///
  /// - Parameter body: Writes the members of the parameters.
  private func notify(_ method: StaticString, _ body: (inout JSONWriter) -> Void) {
    write { $0.notification(method, body) }
  }
}
