// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// What the turn in hand has done to sessions that are written down, on its way to the journal.
///
/// All of it is committed in one piece before any byte of the turn is written, and before the work
/// begins that the turn has set off: work that leaves traces outside must find its input in the
/// journal if the process is killed.
///
/// If that fails, nothing of what the turn has written may go out, and the journal is behind: it
/// knows the session as it was before, which is what frontends have seen. Such a session is written
/// anew as a whole before anything else of it goes out, so that the journal never has a gap; until
/// then its work waits.
final class TurnRecord {
  /// Tells the operations that this process accepts from those of all others.
  var epoch: UInt64

  private let journal: any SessionJournal
  private let failed: (any Error) -> Void
  private let clock: any StoreClock
  private var entries: [JournalEntry] = []
  /// Whether something of the turn in hand could not be written down.
  private var hasFailed = false
  /// The sessions that it was about.
  private var failedSessions: Set<SessionHandle> = []
  /// The sessions that are ahead of the journal, each with its number in the order in which they are tried.
  private var unwritten: [SessionHandle: UInt64] = [:]
  private var lastNumber: UInt64 = 0
  /// When some of those may be written down again that wait, where that has failed: a session may be large, and
  /// the disk is full for every turn of anybody alike.
  ///
  /// - Units: the clock's `uptime`.
  private var nextRound = Duration.zero
  /// The same for one that somebody has come back to; those that nobody comes to do not wait for it.
  private var nextAsked = Duration.zero
  /// Work that begins once its session is written down.
  private var held: [(work: any HeldWork, session: SessionHandle)] = []

  /// - Parameters:
  ///   - epoch: Never used before by whoever writes to what outlives the process.
  ///   - clock: What the time between attempts is measured with.
  ///   - failed: Told of each commit that has failed.
  init(
    _ journal: any SessionJournal, epoch: UInt64, clock: any StoreClock,
    failed: @escaping (any Error) -> Void
  ) {
    self.journal = journal
    self.clock = clock
    self.epoch = epoch
    self.failed = failed
  }

  func load() throws -> JournalContents { try journal.load() }

  var crashes: (any CrashCounter)? { journal.crashes }

  /// Adds what has happened to a session.
  func add(_ event: JournalEntry.Event, to session: SessionHandle) {
    // It will be written as a whole.
    if !unwritten.isEmpty, event != .ended, unwritten[session] != nil { return }
    entries.append(JournalEntry(session, event))
  }

  /// Lets work begin once all that was done to its session until now is written down.
  ///
  /// - Parameters:
  ///   - work: What waits.
  ///   - session: The handle of its session; at once with the turn where nobody has that handle yet.
  func hold(_ work: any HeldWork, of session: SessionHandle) {
    held.append((work, session))
  }

  /// Commits what has been done, and lets the work begin that it has set off.
  /// - Returns: Whether all that the turn has done until now is written down.
  @discardableResult
  func commit() -> Bool {
    if !entries.isEmpty { commitEntries() }
    if !held.isEmpty { beginHeld() }
    return !hasFailed
  }

  private func commitEntries() {
    do {
      try journal.commit(entries)
      // A session that is over is nobody's any more, whatever is missing of it.
      if !unwritten.isEmpty {
        for entry in entries where entry.event == .ended { unwritten[entry.session] = nil }
      }
    } catch {
      hasFailed = true
      for entry in entries {
        // A session that is over comes back with the process, as it was, and expires.
        if entry.event == .ended {
          unwritten[entry.session] = nil
        } else {
          if unwritten[entry.session] == nil {
            lastNumber += 1
            unwritten[entry.session] = lastNumber
          }
          failedSessions.insert(entry.session)
        }
      }
      failed(error)
    }
    entries.removeAll(keepingCapacity: entries.count <= Self.keptEntries)
  }

  private func beginHeld() {
    let ready = held
    held = unwritten.isEmpty ? [] : ready.filter { unwritten[$0.session] != nil }
    for (work, session) in ready where unwritten[session] == nil { work.beginNext() }
  }

  /// Commits what has been done, and a session as a whole that is ahead of the journal.
  ///
  /// - Returns: Whether what the turn has written for a frontend of the session may go out.
  func commit(for session: Session) -> Bool {
    guard commit() else { return false }
    guard !unwritten.isEmpty, let handle = session.handle, !session.isEnded,
      unwritten[handle] != nil
    else { return true }
    guard clock.uptime >= nextAsked else { return false }
    if rewrite(session, handle) { return true }
    nextAsked = clock.uptime + Self.timeBetweenRewrites
    return false
  }

  /// A frontend leaves a session: nobody asks any more for the session whether what the turn has
  /// written for that frontend may go out.
  func willLeave(_ session: Session) {
    guard let handle = session.handle, unwritten[handle] != nil else { return }
    // What has been written for it cannot be told from the rest any more.
    if !commit(for: session) { hasFailed = true }
  }

  /// The turn is over; sessions that are ahead of the journal are written anew if they can be, since
  /// nobody may come to them any more. Who is in one that this turn was to write down is let go, even if it was told
  /// nothing: it may wait for what begins only once that is written.
  ///
  /// - Parameter session: Finds the session of a handle, if it is not over.
  func turnEnded(_ session: (SessionHandle) -> Session?) {
    commit()
    for handle in failedSessions { session(handle)?.letGo() }
    if !unwritten.isEmpty, !hasFailed, clock.uptime >= nextRound { rewriteSome(session) }
    hasFailed = false
    if !failedSessions.isEmpty { failedSessions.removeAll() }
  }

  /// Writes some of the sessions that are ahead of the journal, those first that have waited for longest.
  private func rewriteSome(_ session: (SessionHandle) -> Session?) {
    for _ in 0..<Self.rewritesPerTurn {
      guard let handle = unwritten.min(by: { $0.value < $1.value })?.key else { return }
      guard let session = session(handle) else {
        unwritten[handle] = nil
        continue
      }
      guard rewrite(session, handle) else {
        nextRound = clock.uptime + Self.timeBetweenRewrites
        return
      }
    }
  }

  /// Writes a session that is ahead of the journal as a whole; if that fails, it is tried behind all others.
  private func rewrite(_ session: Session, _ handle: SessionHandle) -> Bool {
    unwritten[handle] = nil
    session.writeDown()
    return commit()
  }

  private static var timeBetweenRewrites: Duration { .seconds(1) }
  // What one large turn has needed is given back.
  private static var keptEntries: Int { 1024 }
  // A turn stays short, however many sessions a full disk has met.
  private static var rewritesPerTurn: Int { 16 }
}
