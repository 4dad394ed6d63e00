// SPDX-License-Identifier: Apache-2.0

package import StatewireJSON

/// What is left of a store that was closed in an earlier process: where counting goes on.
package final class ClosedStore: AnyStore {
  package let revision: Revision
  package let lastOperation: UInt64

  package init(revision: Revision, lastOperation: UInt64) {
    self.revision = revision
    self.lastOperation = lastOperation
  }

  package let isClosed = true
  package let unfinished: [Task<Void, Never>] = []

  package func send(reading reader: inout JSONReader) throws(InputError) -> Receipt? {
    throw .closed
  }
  package func listen(_ listener: @escaping (borrowing Publication) -> Void) -> ListenerID {
    ListenerID(rawValue: 0)
  }
  package func listenToEvents(
    _ listener: @escaping (UnsafeRawBufferPointer) -> Void
  ) -> ListenerID { ListenerID(rawValue: 0) }
  package func stopListening(_ id: ListenerID) {}
  package func trace(_ trace: ((TraceRecord) -> Void)?) {}
  package func take(_ phase: LifecyclePhase) {}
  package func dropBuffers() {}
  package func writeState(to writer: inout JSONWriter) { writer.null() }
  package func receive(_ message: EffectMessage) {}
  package func cancel(_ ticket: Ticket) {}
  package func whenSettled(_ ticket: Ticket, _ body: @escaping (Settlement) -> Void) {
    body(Settlement(revision: revision, changed: false, wasClosed: true))
  }
  package func close() -> [Task<Void, Never>] { [] }
  package func prepareRecord(scope: String) -> Bool { false }
  package func record(by recorder: any StoreRecorder) {}
  package func resume(_ accepted: [AcceptedInput]) -> [JSONError] { [] }
}
