// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// A session on its way to the journal.
final class SessionRecord {
  let handle: SessionHandle
  let stage: CommitStage
  /// The last commit that has entries of it.
  private(set) var lastCommit = CommitNumber(rawValue: 0)
  /// True if entries of it are missing in the journal: it is written as a whole before anything else of it goes out.
  private(set) var isIncomplete = false
  /// The commit in which it was written as a whole; failures of earlier ones do not concern it any more.
  private var rewritten = CommitNumber(rawValue: 0)
  /// True while no frontend is attached.
  private(set) var isAlone = false
  /// What the journal says of whether something in it continues alone.
  var continuesAlone = true
  /// What the journal says of how much the session uses of its limits.
  var bytes = 0
  /// True if the end of the turn has to find that out again.
  private var isDue = false
  /// Stores that the turn in hand has changed while nothing was to continue alone.
  private var changed: Set<String> = []
  /// Work that begins once the session is complete.
  var work: [any HeldWork] = []

  init(_ handle: SessionHandle, _ stage: CommitStage) {
    self.handle = handle
    self.stage = stage
  }

  /// Adds what has happened to the session.
  func add(_ event: JournalEntry.Event) {
    if isIncomplete {
      guard event == .ended else { return }
      // Nothing else of it is needed any more.
      isIncomplete = false
    }
    lastCommit = stage.add(event, to: handle)
    if isAlone, !continuesAlone, case .store(let name, _) = event {
      if !isDue, changed.isEmpty { stage.addAlone(self) }
      changed.insert(name)
    }
  }

  /// The last frontend has left.
  func isLeft() {
    isAlone = true
    if !isDue, changed.isEmpty { stage.addAlone(self) }
    isDue = true
  }

  /// A frontend is attached.
  func isJoined() { isAlone = false }

  /// Writes whether something in the session continues alone, if that has changed; at the end of a turn.
  ///
  /// That nothing does any more is found out when the last frontend leaves and after a restart, and not with each change: a
  /// session that is restored for nothing costs little, and one that is not would miss what it is to do.
  func noteContinuing(_ session: Session?) {
    let (isDue, changed) = (isDue, changed)
    (self.isDue, self.changed) = (false, [])
    guard isAlone, !isIncomplete, let session, session.record === self else { return }
    let now =
      isDue ? session.continuesAlone : changed.contains { session.continuesAlone(in: $0) }
    let bytes = isDue ? session.account.bytes : bytes
    guard now != continuesAlone || abs(bytes - self.bytes) > Self.fewBytes else { return }
    continuesAlone = now
    self.bytes = bytes
    add(.alone(continues: now, bytes: bytes))
  }

  /// Lets work begin once all that was done to the session until now is in the journal.
  func hold(_ work: any HeldWork) { stage.hold(work, of: self) }

  /// Notes that entries of a commit are missing.
  ///
  /// - Returns: True if they are needed.
  func failed(_ number: CommitNumber) -> Bool {
    guard number >= rewritten else { return false }
    isIncomplete = true
    return true
  }

  /// Writes the session as a whole.
  func rewrite(_ session: Session) {
    isIncomplete = false
    (continuesAlone, bytes) = (true, 0)
    session.writeDown()
    if isAlone { isLeft() }
    rewritten = lastCommit
    for work in work { stage.hold(work, of: self) }
    work = []
  }

  // A session that has no more is served, whatever others hold (`SessionAccount`).
  private static var fewBytes: Int { 4 << 10 }
}
