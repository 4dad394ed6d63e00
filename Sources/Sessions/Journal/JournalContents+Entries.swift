// SPDX-License-Identifier: Apache-2.0

extension JournalContents {
  /// The entries that reproduce these contents; each inner array is one transaction.
  package var entries: [[JournalEntry]] {
    let over: [JournalEntry] = ended.flatMap { handle, owner in
      [JournalEntry(handle, .opened(owner: owner)), JournalEntry(handle, .ended)]
    }
    return [over + kept.map { JournalEntry($0.session, .keptAside($0)) }] + sessions.map(\.entries)
  }
}

extension JournalContents.Session {
  /// The entries that reproduce the session.
  package var entries: [JournalEntry] {
    var events: [JournalEntry.Event] = [.opened(owner: owner)]
    if let deadline { events.append(.expires(at: deadline)) }
    events.append(.alone(continues: continuesAlone, bytes: bytes))
    for (frontend, last) in sequences {
      events.append(.sequence(frontend: frontend, last: last, store: nil))
    }
    for store in stores { events += store.events.map { .store(store.name, $0) } }
    return events.map { JournalEntry(handle, $0) }
  }
}

extension JournalContents.Store {
  fileprivate var events: [JournalEntry.StoreEvent] {
    var events: [JournalEntry.StoreEvent] = [
      .opened(
        kind: kind, configuration: configuration, revision: opened, version: version,
        renewal: renewal)
    ]
    // An accepted and settled input leaves its operation number.
    if lastOperation > 0 {
      events += [
        .accepted(operation: lastOperation, epoch: 0, input: nil, at: .zero),
        .settled(operation: lastOperation),
      ]
    }
    if isClosed { events.append(.closed) }
    if redacted > 0 { events.append(.redacted(redacted)) }
    for (revision, frame) in frames {
      events.append(.step(patch: nil, revision: revision, frame: frame))
    }
    if let state { events.append(.state(.text(state), revision: revision)) }
    for patch in patches { events.append(.step(patch: patch, revision: revision, frame: nil)) }
    // Sets the revision where neither the state nor a patch does.
    events.append(.step(patch: nil, revision: revision, frame: nil))
    for (operation, epoch, input, at) in accepted {
      events.append(.accepted(operation: operation, epoch: epoch, input: input, at: at))
    }
    for (operation, frontend, sequence) in numbered {
      events.append(.numbered(operation: operation, frontend: frontend, sequence: sequence))
    }
    return events
  }
}
