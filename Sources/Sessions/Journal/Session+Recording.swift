// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

// What is written down of a session that has a handle.

extension Session {
  /// Something has happened to the session.
  func write(_ event: JournalEntry.Event) {
    if handle != nil { record?.add(event) }
  }

  /// Writes down all there is, in place of what was written before.
  func writeDown() {
    guard record != nil else { return }
    write(.opened(owner: owner))
    if let expiry { write(.expires(at: expiry)) }
    for slot in slotsInOrder { writeDown(slot) }
    for named in names.values where named.lastSequence > 0 {
      write(.sequence(frontend: named.name, last: named.lastSequence, store: nil))
      for (sequence, slot, ticket) in named.running {
        write(number: ticket, of: slot, sequence, named)
      }
    }
  }

  /// True if something in the session would continue after a restart although no frontend comes, beside unfinished inputs.
  var continuesAlone: Bool { slots.values.contains { !$0.isClosed && $0.store.continuesAlone } }

  /// The same for one of its stores.
  func continuesAlone(in store: String) -> Bool {
    slots[store].map { !$0.isClosed && $0.store.continuesAlone } ?? false
  }

  /// Writes down a store, and what happens to it from now on.
  func writeDown(_ slot: StoreSlot) {
    if let record = slotRecord(slot) { slot.writeDown(to: record) }
  }

  /// A frontend with a name has had an input accepted.
  func accepted(
    _ sequence: Int, of named: NamedFrontend, _ receipt: Receipt, _ slot: StoreSlot
  ) {
    guard record != nil else { return }
    let store = receipt.isSettled && slot.isDurable ? slot.name : nil
    write(.sequence(frontend: named.name, last: sequence, store: store))
    if !receipt.isSettled { write(number: receipt.ticket, of: slot, sequence, named) }
  }

  private func write(
    number ticket: Ticket, of slot: StoreSlot, _ sequence: Int, _ named: NamedFrontend
  ) {
    guard slot.isDurable else { return }
    write(
      .store(
        slot.name,
        .numbered(operation: ticket.rawValue, frontend: named.name, sequence: sequence)))
  }

  func slotRecord(_ slot: StoreSlot) -> SlotRecord? {
    guard handle != nil, let record else { return nil }
    return SlotRecord(record, store: slot.name)
  }

  /// In the order in which they were opened last.
  var slotsInOrder: [StoreSlot] {
    slots.values.sorted { $0.number.rawValue < $1.number.rawValue }
  }
}
