// SPDX-License-Identifier: Apache-2.0

public import Sessions

extension JournalContents.Store {
  /// The whole content as text. Equal contents have equal texts.
  public var text: String {
    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    return """
      \(name) \(kind) \(text(configuration)) closed \(isClosed) \(opened)-\(revision) \
      version \(version) \(renewal) \
      redacted \(redacted) operation \(lastOperation) state \(state.map(text) ?? "none") \
      patches \(patches.map(text)) frames \(frames.map { "\($0.revision) \(text($0.frame))" }) \
      accepted \(accepted.map { "\($0.epoch).\($0.operation) \($0.input.map(text) ?? "none") \($0.at)" }) \
      numbered \(numbered.map { "\($0.operation) \($0.frontend) \($0.sequence)" }.sorted())
      """
  }
}

extension JournalContents.Session {
  /// The whole content as text.
  public var text: String {
    let sequences = sequences.map { "\($0.frontend) \($0.last)" }.sorted()
    let deadline = deadline.map { "\($0)" } ?? "never"
    return "\(handle) of \(owner ?? "none") until \(deadline), \(sequences)\n"
      + "continues \(continuesAlone), \(bytes) bytes\n" + stores.map { $0.text + "\n" }.joined()
  }
}

extension JournalContents {
  /// The whole content as text, without the number of loads.
  public var text: String {
    let kept = kept.map { "\($0)" }.sorted().joined(separator: "\n")
    return sessions.map(\.text).sorted().joined() + "over \(ended.map(\.handle))\nkept \(kept)"
  }
}

/// Random turns, similar to those of sessions.
public struct RandomTurns {
  private var numbers: FixedNumbers
  private var live: [SessionHandle] = []
  private var stores: [[UInt8]: (revision: Int, operation: UInt64, accepted: [UInt64])] = [:]
  private var sequence = 0
  private var kept: [KeptState.Key] = []

  /// Creates the turns of a seed.
  public init(seed: UInt64) { numbers = FixedNumbers(seed: seed) }

  /// Returns the entries of one turn, usually of one event.
  public mutating func next() -> [JournalEntry] {
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
    if chance(2) {
      let bytes = Int.random(in: 0..<1 << 30, using: &numbers)
      return [JournalEntry(session, .alone(continues: chance(50), bytes: bytes))]
    }
    if chance(1) { return [keptEntry(session)] }
    let name = storeName()
    var events = storeEvents(Array("\(session) \(name)".utf8)).map {
      JournalEntry(session, .store(name, $0))
    }
    if chance(50) {
      sequence += 1
      events.insert(
        JournalEntry(
          session,
          .sequence(
            frontend: chance(50) ? "\u{fc}" : "u\u{308}", last: sequence,
            store: chance(80) ? name : nil)),
        at: chance(50) ? 0 : events.endIndex)
    }
    return events
  }

  /// The name of a store. Names are compared by bytes: two of them are equal as texts of Swift.
  private mutating func storeName() -> String {
    ["store", "\u{fc}", "u\u{308}"].randomElement(using: &numbers) ?? ""
  }

  /// Keeps a state aside, or removes one.
  private mutating func keptEntry(_ session: SessionHandle) -> JournalEntry {
    if let key = kept.randomElement(using: &numbers), chance(40) {
      kept.removeAll { $0 == key }
      return JournalEntry(session, .keptRemoved(key))
    }
    let state = KeptState(
      session: session, owner: chance(50) ? "owner" : nil,
      store: storeName(), kind: "kind",
      configuration: text(10), version: 3, revision: Int.random(in: 0..<3, using: &numbers),
      state: text(5000), reason: "none at /é", time: .seconds(7))
    kept.append(state.key)
    return JournalEntry(session, .keptAside(state))
  }

  private mutating func renewal() -> StoreRenewal {
    [.opened, .migrated, .restored, .unreadable(revision: 7, reason: "none at /é")]
      .randomElement(using: &numbers) ?? .opened
  }

  private mutating func storeEvents(_ key: [UInt8]) -> [JournalEntry.StoreEvent] {
    guard var store = stores[key], !chance(1) else {
      var store = stores[key] ?? (0, 0, [])
      store.revision += 1
      store.accepted = []
      stores[key] = store
      return [
        .opened(
          kind: "kind", configuration: text(10), revision: store.revision,
          version: Int.random(in: 1..<300, using: &numbers), renewal: renewal()),
        .state(.text(text(40)), revision: store.revision),
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
    case ..<72: return [.state(.text(text(9000)), revision: store.revision)]
    case ..<73:
      store.revision += 1
      return [
        .renewed(revision: store.revision, version: 2, renewal: renewal()),
        .state(.text(text(90)), revision: store.revision),
      ]
    case ..<76:
      return [.trimmed(max(0, store.revision - Int.random(in: 0..<9, using: &numbers)))]
    case ..<78: return [.redacted(store.revision)]
    case ..<79:
      store.accepted = []
      return [.closed]
    case ..<92:
      store.operation += 1
      store.accepted.append(store.operation)
      let input = chance(80) ? text(30) : nil
      return [
        .accepted(
          operation: store.operation, epoch: UInt64(store.revision) << 40, input: input,
          at: .nanoseconds(store.revision))
      ]
        + (chance(50)
          ? [.numbered(operation: store.operation, frontend: "u\u{308}", sequence: 7)] : [])
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
