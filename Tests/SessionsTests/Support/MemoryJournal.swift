// SPDX-License-Identifier: Apache-2.0

import Sessions
import StateMachines

/// A journal in memory that keeps every commit, so that a test can simulate a kill after any of
/// them.
// @unchecked because one shard's loop at a time calls it.
final class MemoryJournal: SessionJournal, @unchecked Sendable {
  struct Full: Error {}

  /// Nil if no crashes are counted.
  let counter: RecordingCrashes?
  var crashes: (any CrashCounter)? { counter }

  private(set) var commits: [[JournalEntry]]
  /// True while no commit succeeds.
  var isFull = false
  /// The sessions whose entries make a commit fail.
  var tooLarge: Set<SessionHandle> = []
  /// The number of failed commits.
  private(set) var refusals = 0
  /// A session that cannot be read.
  var unreadable: SessionHandle?
  /// True if no session can be read.
  var isUnreadable = false
  /// The sessions that were loaded one by one, in order.
  private(set) var loaded: [SessionHandle] = []
  /// The sessions in memory.
  private(set) var awake: Set<SessionHandle> = []
  /// Changes a session after it was loaded, to simulate damage.
  var damage: ((inout LoadedSession) -> Void)?
  /// Called after each commit.
  var whenCommitted: (() -> Void)?

  private var loads: UInt64

  /// - Parameters:
  ///   - commits: The earlier commits.
  ///   - loads: How often the journal was loaded before.
  ///   - counter: Records the crash counter's calls.
  init(
    _ commits: [[JournalEntry]] = [], loads: UInt64 = 0, counter: RecordingCrashes? = nil
  ) {
    self.commits = commits
    self.loads = loads
    self.counter = counter
  }

  func commit(_ entries: [JournalEntry]) throws {
    guard !isFull, !entries.contains(where: { tooLarge.contains($0.session) }) else {
      refusals += 1
      throw Full()
    }
    for entry in entries {
      if case .opened = entry.event { awake.insert(entry.session) }
      if entry.event == .ended { awake.remove(entry.session) }
    }
    commits.append(entries)
    whenCommitted?()
  }

  func load() throws -> JournalContents {
    loads += 1
    var contents = contents
    contents.loads = loads
    return contents
  }

  func start() throws -> JournalStart {
    // The process before has ended.
    awake = []
    return try load().start
  }

  func load(_ session: SessionHandle) throws -> LoadedSession {
    guard !isUnreadable, session != unreadable else { throw Full() }
    var found = contents.loaded(session)
    if found.session != nil {
      loaded.append(session)
      awake.insert(session)
    }
    if let damage { damage(&found) }
    return found
  }

  func continuing(after position: Int64?, limit: Int) throws -> ContinuingSessions {
    contents.continuing(after: position, limit: min(limit, 2))
  }

  func endExpired(at time: Duration, limit: Int) throws -> Int {
    let expired = contents.expired(at: time, limit: .max).filter { !awake.contains($0) }
      .prefix(limit)
    if !expired.isEmpty { try commit(expired.map { JournalEntry($0, .ended) }) }
    return expired.count
  }

  func forget(_ sessions: [SessionHandle]) { awake.subtract(sessions) }

  private var contents: JournalContents {
    var contents = JournalContents()
    for entry in commits.joined() { contents.take(entry) }
    for index in contents.sessions.indices where counter?.setsAside == true {
      contents.sessions[index].isSetAside = true
    }
    return contents
  }

  var entries: [JournalEntry] { Array(commits.joined()) }
}

/// A counter that records its calls.
final class RecordingCrashes: CrashCounter {
  /// True if every session has crashed the process too often.
  let setsAside: Bool
  private let notes = Lock<[String]>([])

  init(setsAside: Bool = false) { self.setsAside = setsAside }

  func perform(for session: SessionHandle, _ body: () -> Void) {
    notes.withLock { $0.append("performs") }
    body()
  }

  func ended(_ session: SessionHandle) { notes.withLock { $0.append("ended") } }

  /// Returns the calls since the last time.
  func take() -> [String] {
    notes.withLock { notes in
      defer { notes = [] }
      return notes
    }
  }
}
