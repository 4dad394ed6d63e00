// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

extension JournalContents {
  /// Applies an entry to the contents.
  ///
  /// This is the reference for the meaning of entries. Journals in memory use it, and tests compare
  /// other journals with it.
  package mutating func take(_ entry: JournalEntry) {
    if case .opened(let owner) = entry.event {
      sessions.removeAll { $0.handle == entry.session }
      var session = Session(handle: entry.session)
      session.owner = owner
      sessions.append(session)
      return
    }
    if takeKept(entry.event) { return }
    guard let index = sessions.firstIndex(where: { $0.handle == entry.session }) else { return }
    switch entry.event {
    case .opened, .keptAside, .keptRemoved: break
    case .ended: ended.append((entry.session, sessions.remove(at: index).owner))
    case .expires(let time): sessions[index].deadline = time
    case .alone(let continues, let bytes):
      (sessions[index].continuesAlone, sessions[index].bytes) = (continues, bytes)
    case .sequence(let frontend, let last, _):
      sessions[index].sequences.removeAll { $0.frontend.hasSameBytes(as: frontend) }
      sessions[index].sequences.append((frontend, last))
    case .store(let name, let event): sessions[index].take(event, of: name)
    }
  }

  /// Applies an event of a state that is kept aside, which may belong to a session that has ended.
  ///
  /// - Returns: False if it is another event.
  private mutating func takeKept(_ event: JournalEntry.Event) -> Bool {
    switch event {
    case .keptAside(let state):
      kept.removeAll { $0.key == state.key }
      kept.append(state)
    case .keptRemoved(let key):
      kept.removeAll { $0.key == key }
    default:
      return false
    }
    return true
  }
}

extension JournalContents.Session {
  fileprivate mutating func take(_ event: JournalEntry.StoreEvent, of name: String) {
    let index = stores.firstIndex { $0.name.hasSameBytes(as: name) }
    guard case .opened(let kind, let configuration, let revision, let version, let renewal) = event
    else {
      if let index { stores[index].take(event) }
      return
    }
    var store = JournalContents.Store(
      name: name, kind: kind, configuration: configuration, opened: revision)
    (store.version, store.renewal) = (version, renewal)
    if let index {
      store.lastOperation = stores[index].lastOperation
      stores[index] = store
    } else {
      stores.append(store)
    }
  }
}

extension JournalContents.Store {
  fileprivate mutating func take(_ event: JournalEntry.StoreEvent) {
    switch event {
    case .opened:
      break
    case .renewed(let revision, let version, let renewal):
      (opened, self.revision, self.version, self.renewal) = (revision, revision, version, renewal)
      frames = []
    case .closed:
      isClosed = true
      (state, patches, frames, accepted, numbered) = (nil, [], [], [], [])
    case .state(let state, let revision):
      (self.state, patches, self.revision) = (state?.text, [], revision)
    case .step(let patch, let revision, let frame):
      if let patch, state != nil { patches.append(patch) }
      if let frame {
        frames.append((revision, frame))
      } else if revision != self.revision {
        frames.removeAll()
      }
      self.revision = revision
    case .redacted(let revision):
      redacted = revision
      frames.removeAll { $0.revision <= revision }
    case .trimmed(let revision):
      frames.removeAll { $0.revision <= revision }
    case .accepted(let operation, let epoch, let input, let at):
      accepted.append((operation, epoch, input, at))
      lastOperation = max(lastOperation, operation)
    case .numbered(let operation, let frontend, let sequence):
      numbered.append((operation, frontend, sequence))
    case .settled(let operation):
      accepted.removeAll { $0.operation == operation }
      numbered.removeAll { $0.operation == operation }
    }
  }
}
