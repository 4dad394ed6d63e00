// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension Connection: Frontend {
  public func storeChanged(_ frame: borrowing ChangedFrame) {
    let members = frame.members
    let applied = frame.applied
    notify(StoreChanged.method) { writer in
      writer.raw(members)
      writer.raw(",\"applied\":")
      if applied.isEmpty { writer.raw("null") } else { writer.raw(applied) }
    }
  }

  public func storeEvent(_ store: String, _ event: UnsafeRawBufferPointer) {
    notify(StoreEvent.method) { writer in
      writer.raw("\"store\":")
      writer.value(store)
      writer.raw(",\"event\":")
      writer.raw(event)
    }
  }

  public func storeClosed(_ store: String, reason: ClosedReason) {
    notify(StoreClosed.method) { writer in
      writer.raw("\"store\":")
      writer.value(store)
      writer.raw(",\"reason\":")
      writer.value(reason.rawValue)
    }
  }

  /// Writes a notification.
  /// - Parameter body: Writes the members of its parameters.
  func notify(_ method: StaticString, _ body: (inout JSONWriter) -> Void) {
    write { writer in
      writer.raw("{\"jsonrpc\":\"2.0\",\"method\":\"")
      writer.raw(method)
      writer.raw("\",\"params\":{")
      body(&writer)
      writer.raw("}}")
    }
  }
}
