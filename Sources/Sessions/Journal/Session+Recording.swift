// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

// Journal entries of a session that has a handle.

extension Session {
  /// Journals an event of the session.
  func write(_ event: JournalEntry.Event) {
    if handle != nil { record?.add(event) }
  }

  /// Journals the session as a whole, which replaces its earlier entries.
  func journal() {
    guard record != nil else { return }
    write(.opened(owner: owner))
    if let expiry { write(.expires(at: expiry.time)) }
    for storeEntry in entriesInOrder {
      if let shared = sharedStores[storeEntry.name] { journal(shared) } else { journal(storeEntry) }
    }
    for named in names.values where named.lastSequence > 0 {
      write(.sequence(frontend: named.name, last: named.lastSequence, store: nil))
      for (sequence, storeEntry, inputID) in named.running {
        write(number: inputID, of: storeEntry, sequence, named)
      }
    }
  }

  /// True if something in the session continues after a restart although no client attaches, in
  /// addition to unsettled inputs.
  var continuesAlone: Bool {
    storeEntries.contains {
      !$0.isClosed && !isShared($0) && $0.store.continuesAlone
    }
  }

  /// Returns true if something in a store continues after a restart although no client attaches, in
  /// addition to unsettled inputs. False for a shared, closed or unknown store.
  func continuesAlone(in store: String) -> Bool {
    storeEntries[store].map { !$0.isClosed && !isShared($0) && $0.store.continuesAlone } ?? false
  }

  /// Journals a store and each later change.
  func journal(_ storeEntry: StoreEntry) {
    if let record = storeEntryRecord(storeEntry) { storeEntry.journal(to: record) }
  }

  /// Journals an accepted input of a named frontend.
  func accepted(
    _ sequence: Int, of named: NamedFrontend, _ sendResult: SendResult, _ storeEntry: StoreEntry
  ) {
    guard record != nil else { return }
    // The inputs of a shared store are journaled with its owner.
    let isOwn = storeEntry.isDurable && !isShared(storeEntry)
    let store = sendResult.isSettled && isOwn ? storeEntry.name : nil
    write(.sequence(frontend: named.name, last: sequence, store: store))
    if !sendResult.isSettled { write(number: sendResult.inputID, of: storeEntry, sequence, named) }
  }

  private func write(
    number inputID: InputID, of storeEntry: StoreEntry, _ sequence: Int, _ named: NamedFrontend
  ) {
    guard storeEntry.isDurable, !isShared(storeEntry) else { return }
    write(
      .store(
        storeEntry.name,
        .numbered(operation: inputID.rawValue, frontend: named.name, sequence: sequence)))
  }

  func storeEntryRecord(_ storeEntry: StoreEntry) -> StoreEntryRecord? {
    guard handle != nil, let record else { return nil }
    return StoreEntryRecord(record, store: storeEntry.name)
  }

  /// The store entries, in the order in which they were opened last.
  var entriesInOrder: [StoreEntry] {
    storeEntries.sorted { $0.number.rawValue < $1.number.rawValue }
  }
}
