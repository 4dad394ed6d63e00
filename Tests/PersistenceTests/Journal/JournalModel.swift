// SPDX-License-Identifier: Apache-2.0

import Sessions

@testable import Persistence

/// A journal in memory and in the plainest words; the one on disk has to agree with it.
struct JournalModel {
  private(set) var sessions: [SessionHandle: JournalContents.Session] = [:]
  private(set) var ended: [SessionHandle] = []

  mutating func apply(_ entry: JournalEntry) {
    switch entry.event {
    case .opened(let owner):
      var session = JournalContents.Session(handle: entry.session)
      session.owner = owner
      sessions[entry.session] = session
    case .ended:
      guard sessions.removeValue(forKey: entry.session) != nil else { return }
      ended.append(entry.session)
    case .expires(let deadline):
      sessions[entry.session]?.deadline = deadline
    case .sequence(let frontend, let last):
      sessions[entry.session]?.sequences.removeAll { $0.frontend == frontend }
      sessions[entry.session]?.sequences.append((frontend, last))
    case .store(let name, let event):
      guard var session = sessions[entry.session] else { return }
      defer { sessions[entry.session] = session }
      let position = session.stores.firstIndex { $0.name == name }
      if case .opened(let kind, let configuration, let revision) = event {
        var store = JournalContents.Store(
          name: name, kind: kind, configuration: configuration, opened: revision)
        if let position {
          store.lastOperation = session.stores[position].lastOperation
          session.stores[position] = store
        } else {
          session.stores.append(store)
        }
      } else if let position {
        session.stores[position].apply(event)
      }
    }
  }
}

extension JournalContents.Store {
  fileprivate mutating func apply(_ event: JournalEntry.StoreEvent) {
    switch event {
    case .opened: break
    case .closed:
      isClosed = true
      (state, patches, frames, accepted, numbered) = (nil, [], [], [], [])
    case .state(let state, let revision):
      (self.state, patches, self.revision) = (state, [], revision)
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
    case .accepted(let operation, let input, let at):
      accepted.append((operation, input, at))
      lastOperation = max(lastOperation, operation)
    case .numbered(let operation, let frontend, let sequence):
      numbered.append((operation, frontend, sequence))
    case .settled(let operation):
      accepted.removeAll { $0.operation == operation }
      numbered.removeAll { $0.operation == operation }
    }
  }

  /// All of it as text, in which equal contents are equal.
  var text: String {
    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    return """
      \(name) \(kind) \(text(configuration)) closed \(isClosed) \(opened)-\(revision) \
      redacted \(redacted) operation \(lastOperation) state \(state.map(text) ?? "none") \
      patches \(patches.map(text)) frames \(frames.map { "\($0.revision) \(text($0.frame))" }) \
      accepted \(accepted.map { "\($0.operation) \($0.input.map(text) ?? "none") \($0.at)" }) \
      numbered \(numbered.map { "\($0.operation) \($0.frontend) \($0.sequence)" }.sorted())
      """
  }
}

extension JournalContents.Session {
  var text: String {
    let sequences = sequences.map { "\($0.frontend) \($0.last)" }.sorted()
    let deadline = deadline.map { "\($0)" } ?? "never"
    return "\(handle) of \(owner ?? "nobody") until \(deadline), \(sequences)\n"
      + stores.map { $0.text + "\n" }.joined()
  }
}

extension JournalModel {
  var text: String { sessions.values.map(\.text).sorted().joined() + "over \(ended)" }
}

extension JournalContents {
  var text: String {
    sessions.map(\.text).sorted().joined() + "over \(ended.map(\.handle))"
  }
}

/// Turns as sessions could have them.
struct RandomTurns {
  private var numbers: SeededNumbers
  private var live: [SessionHandle] = []
  private var stores: [String: (revision: Int, operation: UInt64, accepted: [UInt64])] = [:]
  private var sequence = 0

  init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

  /// What one turn does: one thing, mostly.
  mutating func next() -> [JournalEntry] {
    (0..<(chance(5) ? Int.random(in: 1..<40, using: &numbers) : 1)).flatMap { _ in entries() }
  }

  private mutating func entries() -> [JournalEntry] {
    guard let session = live.randomElement(using: &numbers), !chance(2) else {
      let handle = SessionHandle(using: &numbers)
      live.append(handle)
      return [JournalEntry(handle, .opened(owner: chance(50) ? "owner" : nil))]
    }
    if chance(1) {
      live.removeAll { $0 == session }
      return [JournalEntry(session, .ended)]
    }
    if chance(2) {
      let deadline = Duration.milliseconds(Int.random(in: 0..<1 << 40, using: &numbers))
      return [JournalEntry(session, .expires(at: chance(50) ? deadline : nil))]
    }
    let name = "store \(Int.random(in: 0..<3, using: &numbers))"
    var events = storeEvents("\(session) \(name)").map { JournalEntry(session, .store(name, $0)) }
    if chance(50) {
      sequence += 1
      events.insert(
        JournalEntry(session, .sequence(frontend: chance(50) ? "ü" : "b", last: sequence)),
        at: chance(50) ? 0 : events.endIndex)
    }
    return events
  }

  private mutating func storeEvents(_ key: String) -> [JournalEntry.StoreEvent] {
    guard var store = stores[key], !chance(1) else {
      var store = stores[key] ?? (0, 0, [])
      store.revision += 1
      store.accepted = []
      stores[key] = store
      return [
        .opened(kind: "kind", configuration: text(10), revision: store.revision),
        .state(text(40), revision: store.revision),
      ]
    }
    defer { stores[key] = store }
    switch Int.random(in: 0..<100, using: &numbers) {
    case ..<60:
      store.revision += 1
      let patch = text(200)
      return [.step(patch: patch, revision: store.revision, frame: text(20) + patch)]
    case ..<65:
      return [.step(patch: text(20), revision: store.revision, frame: nil)]
    case ..<68:
      store.revision += 1
      return [.step(patch: text(5000), revision: store.revision, frame: text(3000))]
    case ..<72: return [.state(text(9000), revision: store.revision)]
    case ..<76: return [.trimmed(store.revision - Int.random(in: 0..<9, using: &numbers))]
    case ..<78: return [.redacted(store.revision)]
    case ..<79:
      store.accepted = []
      return [.closed]
    case ..<92:
      store.operation += 1
      store.accepted.append(store.operation)
      let input = chance(80) ? text(30) : nil
      return [
        .accepted(operation: store.operation, input: input, at: .nanoseconds(store.revision))
      ] + (chance(50) ? [.numbered(operation: store.operation, frontend: "b", sequence: 7)] : [])
    default:
      guard let operation = store.accepted.randomElement(using: &numbers) else { return [] }
      store.accepted.removeAll { $0 == operation }
      return [.settled(operation: operation)]
    }
  }

  private mutating func text(_ maximum: Int) -> [UInt8] {
    let count = Int.random(in: 0..<maximum, using: &numbers)
    return (0..<count).map { _ in UInt8.random(in: 97..<123, using: &numbers) }
  }

  private mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &numbers) < percent
  }
}
