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
    session.writeDown()
    rewritten = lastCommit
    for work in work { stage.hold(work, of: self) }
    work = []
  }
}
