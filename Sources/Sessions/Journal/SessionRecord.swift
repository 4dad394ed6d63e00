// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The state of a session's entries in the journal.
final class SessionRecord {
  let handle: SessionHandle
  let stage: CommitStage
  /// The last commit with entries of the session.
  private(set) var lastCommit = CommitNumber(rawValue: 0)
  /// True if entries of the session are missing in the journal. The session is then journaled as a
  /// whole before anything else of it is sent.
  private(set) var isIncomplete = false
  /// The commit that journaled the session as a whole; failures of earlier commits do not matter
  /// any more.
  private var rewritten = CommitNumber(rawValue: 0)
  /// True while no client is attached.
  private(set) var isAlone = false
  /// The journaled value of `Session.continuesAlone`.
  var continuesAlone = true
  /// The journaled size of the session, in bytes.
  var bytes = 0
  /// True if the end of the turn has to compute both values again.
  private var isDue = false
  /// Stores that the current turn has changed while nothing was to continue alone.
  private var changed: Set<ByteString> = []
  /// Work that starts when the session is complete.
  var work: [() -> Void] = []

  /// States that are kept aside, and their commit, until it has succeeded: a session that is
  /// journaled as a whole has them no more.
  private var kept: (states: [KeptState], commit: CommitNumber)?

  init(_ handle: SessionHandle, _ stage: CommitStage) {
    self.handle = handle
    self.stage = stage
  }

  /// Adds an event of the session.
  func add(_ event: JournalEntry.Event) {
    if isIncomplete {
      guard event == .ended else { return }
      // No other entry of the session is needed any more.
      isIncomplete = false
    }
    if let commit = kept?.commit, stage.hasEnded(commit) { kept = nil }
    lastCommit = stage.add(event, to: handle)
    if isAlone, !continuesAlone, case .store(let name, _) = event {
      if !isDue, changed.isEmpty { stage.addAlone(self) }
      changed.insert(ByteString(name))
    }
  }

  /// Keeps states aside that cannot be read.
  func keepAside(_ states: [KeptState]) {
    for state in states { add(.keptAside(state)) }
    kept = (states, lastCommit)
  }

  /// Records that the last client has left.
  func lastClientLeft() {
    isAlone = true
    if !isDue, changed.isEmpty { stage.addAlone(self) }
    isDue = true
  }

  /// Records that a client has attached.
  func clientAttached() { isAlone = false }

  /// Journals `continuesAlone` at the end of a turn if it has changed.
  ///
  /// That nothing continues any more is determined only when the last client leaves and after a
  /// restart, not at each change. A session that is restored needlessly costs little, and one that
  /// is not restored would miss its work.
  func noteContinuing(_ session: Session?) {
    let (isDue, changed) = (isDue, changed)
    (self.isDue, self.changed) = (false, [])
    guard isAlone, !isIncomplete, let session, session.record === self else { return }
    let now =
      isDue ? session.continuesAlone : changed.contains { session.continuesAlone(in: $0.string) }
    let bytes = isDue ? session.account.bytes : bytes
    guard now != continuesAlone || abs(bytes - self.bytes) > Self.fewBytes else { return }
    continuesAlone = now
    self.bytes = bytes
    add(.alone(continues: now, bytes: bytes))
  }

  /// Starts work when everything that has happened to the session until now is in the journal.
  func hold(_ begin: @escaping () -> Void) { stage.hold(begin, of: self) }

  /// Records that entries of a commit are missing.
  ///
  /// - Returns: True if the entries are needed.
  func failed(_ number: CommitNumber) -> Bool {
    guard number >= rewritten else { return false }
    isIncomplete = true
    return true
  }

  /// Journals the session as a whole.
  func rewrite(_ session: Session) {
    isIncomplete = false
    (continuesAlone, bytes) = (true, 0)
    let kept = kept?.states ?? []
    self.kept = nil
    session.journal()
    if !kept.isEmpty { keepAside(kept) }
    if isAlone { lastClientLeft() }
    rewritten = lastCommit
    for work in work { stage.hold(work, of: self) }
    work = []
  }

  // A difference of less than 4 KiB is not journaled; a session with at most 16 KiB is served
  // regardless of the limits (`SessionAccount`).
  private static var fewBytes: Int { 4 << 10 }
}
