// SPDX-License-Identifier: Apache-2.0

import Sessions
import StateMachines

/// A journal that remembers every commit, so that a test can ask what would be there had the process
/// been killed after any of them.
// @unchecked because all of it happens on one shard's loop at a time.
final class MemoryJournal: SessionJournal, @unchecked Sendable {
  struct Full: Error {}

  private(set) var commits: [[JournalEntry]]
  /// Whether nothing can be written.
  var isFull = false
  /// Called after each commit.
  var whenCommitted: (() -> Void)?

  init(_ commits: [[JournalEntry]] = []) { self.commits = commits }

  func commit(_ entries: [JournalEntry]) throws {
    guard !isFull else { throw Full() }
    commits.append(entries)
    whenCommitted?()
  }

  func load() throws -> JournalContents {
    var contents = JournalContents()
    for entry in commits.joined() { contents.take(entry) }
    return contents
  }

  var entries: [JournalEntry] { Array(commits.joined()) }
}

extension JournalContents {
  fileprivate mutating func take(_ entry: JournalEntry) {
    if case .opened(let owner) = entry.event {
      sessions.removeAll { $0.handle == entry.session }
      var session = Session(handle: entry.session)
      session.owner = owner
      sessions.append(session)
      return
    }
    guard let index = sessions.firstIndex(where: { $0.handle == entry.session }) else { return }
    switch entry.event {
    case .opened: break
    case .ended: ended.append((entry.session, sessions.remove(at: index).owner))
    case .expires(let time): sessions[index].deadline = time
    case .sequence(let frontend, let last):
      sessions[index].sequences.removeAll { $0.frontend == frontend }
      sessions[index].sequences.append((frontend, last))
    case .store(let name, .opened(let kind, let configuration, let revision)):
      var store = Store(name: name, kind: kind, configuration: configuration, opened: revision)
      if let old = sessions[index].stores.firstIndex(where: { $0.name == name }) {
        store.lastOperation = sessions[index].stores[old].lastOperation
        sessions[index].stores[old] = store
      } else {
        sessions[index].stores.append(store)
      }
    case .store(let name, let event):
      guard let store = sessions[index].stores.firstIndex(where: { $0.name == name }) else {
        return
      }
      sessions[index].stores[store].take(event)
    }
  }
}

extension JournalContents.Store {
  fileprivate mutating func take(_ event: JournalEntry.StoreEvent) {
    switch event {
    case .opened: break
    case .closed:
      isClosed = true
      (state, patches, frames, accepted, numbered) = (nil, [], [], [], [])
    case .state(let text, let now): (state, patches, revision) = (text, [], now)
    case .step(let patch, let now, let frame):
      if let patch { patches.append(patch) }
      if let frame { frames.append((now, frame)) }
      revision = now
    case .redacted(let from):
      redacted = from
      frames.removeAll { $0.revision <= from }
    case .trimmed(let end): frames.removeAll { $0.revision <= end }
    case .accepted(let operation, let input, let time):
      accepted.append((operation, input, time))
      lastOperation = max(lastOperation, operation)
    case .numbered(let operation, let frontend, let sequence):
      numbered.append((operation, frontend, sequence))
    case .settled(let operation):
      accepted.removeAll { $0.operation == operation }
      numbered.removeAll { $0.operation == operation }
    }
  }
}
