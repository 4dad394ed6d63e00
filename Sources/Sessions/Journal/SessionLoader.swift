// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// The state of loading the sessions of earlier processes one by one; see `Shard.beginRestoring`.
final class SessionLoader {
  typealias Step = (isolated Shard) -> Void

  /// True until the start of the journal has been read.
  var isReading = false
  /// The sessions that own shared stores and are not loaded. The journal counts as read after an
  /// attempt to load each of them.
  var missingOwners: Set<SessionHandle> = []
  /// The number of these that are still being loaded.
  var loadingOwners = 0
  /// The error that occurred when the start was read; nil if there was none.
  var failure: (any Error)?
  /// True when the shard ends: nothing more is loaded.
  var isStopped = false
  /// The place of a session that could not be loaded here, while the steps that wait for it are
  /// called.
  var elsewhere: (session: SessionHandle, place: SessionPlace)?
  /// The sessions that are given up.
  var releasing: Set<SessionHandle> = []
  /// Called with sentences for the log.
  let report: @Sendable (String) -> Void

  /// A step that waits for the start of the journal, and after it for a session if there is one, with the time
  /// at which a client asked for it, since 1970.
  struct Waiting {
    var session: (handle: String, asked: Duration)?
    let step: Step
  }

  private var waiting: [Waiting] = []
  /// The sessions that are being loaded, and the steps that wait for each of them.
  private var loading: [SessionHandle: Loading] = [:]

  /// A session that is being loaded.
  struct Loading {
    var steps: [Step]
    /// The time at which the first client asked for it, since 1970: a client that attaches in time
    /// finds its session, however slow the disk is. Nil if no client has asked.
    var asked: Duration?
    /// True if it is loaded although no client attaches: it is tried again after a failure.
    var isNeeded: Bool
  }

  /// Sessions that are loaded although no client attaches, in order.
  private var continuing: ArraySlice<SessionHandle> = []
  /// The position in the journal after which the next of these sessions are; nil before the first.
  private(set) var position: Int64?
  /// True if the journal may have more of these sessions.
  private var hasMore = true
  /// The earliest time of the next attempt to read which sessions these are.
  private var nextRead = Duration.zero
  /// The sessions that are needed and could not be loaded, each with the time of its next attempt, in
  /// this order. They are tried again after all other sessions. While there are many, no further
  /// sessions with work to continue are read.
  ///
  /// - Units: the shard's `uptime`.
  private var postponed: Deque<(session: SessionHandle, nextTry: Duration)> = []
  var hasContinuing: Bool { isReading || hasMore || !continuing.isEmpty || !postponed.isEmpty }
  /// True while sessions that are not loaded are being ended.
  var isEnding = false
  /// The time at which such sessions are ended next.
  ///
  /// - Units: the shard's `uptime`.
  var nextEnding = Duration.zero
  /// True once the sessions with work to continue may be loaded.
  var mayContinue = false
  /// The earliest time of the next attempt to load a session after a failure, because an attempt
  /// may read the whole journal.
  ///
  /// - Units: the shard's `uptime`.
  private var nextTries: [SessionHandle: Duration] = [:]
  /// True while such a session is being loaded, or the journal is asked for some.
  var isContinuing = false

  init(_ report: @escaping @Sendable (String) -> Void) { self.report = report }

  func add(_ waiting: Waiting) { self.waiting.append(waiting) }

  func takeWaiting() -> [Waiting] {
    defer { waiting = [] }
    return waiting
  }

  /// Adds a step that waits for a session.
  ///
  /// - Parameters:
  ///   - step: The step.
  ///   - session: The session.
  ///   - asked: The time since 1970 at which a client asked for it; nil if none has.
  ///   - isNeeded: True if the session is loaded although no client attaches.
  /// - Returns: True if the session is not being loaded yet.
  func add(
    _ step: @escaping Step, for session: SessionHandle, asked: Duration? = nil,
    isNeeded: Bool = false
  ) -> Bool {
    guard var known = loading[session] else {
      loading[session] = Loading(steps: [step], asked: asked, isNeeded: isNeeded)
      return true
    }
    known.steps.append(step)
    known.asked = known.asked ?? asked
    known.isNeeded = known.isNeeded || isNeeded
    loading[session] = known
    return false
  }

  /// Returns the time at which a client asked for a session, since 1970; nil if none waits.
  func asked(_ session: SessionHandle) -> Duration? { loading[session]?.asked }

  /// Removes and returns the steps that wait for a session.
  func take(_ session: SessionHandle) -> Loading {
    loading.removeValue(forKey: session) ?? Loading(steps: [], isNeeded: false)
  }

  /// Returns true if the journal may have more sessions with work to continue, the last attempt to
  /// read them has not failed within the last 60 seconds, and not too many could not be loaded.
  func mayRead(at time: Duration) -> Bool {
    hasMore && time >= nextRead && postponed.count < Self.maximumFailures
  }

  /// Adds sessions that are loaded although no client attaches.
  func add(_ sessions: ContinuingSessions) {
    continuing += sessions.handles
    position = sessions.next
    hasMore = sessions.next != nil
  }

  /// Records that these sessions could not be read. The next attempt is after 60 seconds.
  func delayReading(from time: Duration) { nextRead = time + Self.timeBetweenAttempts }

  /// Postpones a session that could not be loaded; the other sessions do not wait for it.
  func postpone(_ session: SessionHandle, from time: Duration) {
    postponed.append((session, time + Self.timeBetweenAttempts))
  }

  /// Removes and returns the next session that is needed. A session that could not be loaded is returned
  /// only after the time of its next attempt.
  func takeContinuing(at time: Duration) -> SessionHandle? {
    if let next = continuing.popFirst() { return next }
    guard let first = postponed.first, time >= first.nextTry else { return nil }
    postponed.removeFirst()
    return first.session
  }

  /// Records that a session could not be loaded. The next attempt is after 60 seconds.
  func failed(_ session: SessionHandle, at time: Duration) {
    // Handles that do not exist fail too while the journal cannot be read.
    if nextTries.count >= Self.maximumFailures { nextTries = nextTries.filter { time < $0.value } }
    guard nextTries.count < Self.maximumFailures else { return }
    nextTries[session] = time + Self.timeBetweenAttempts
  }

  /// Returns true if a session could not be loaded within the last 60 seconds.
  func hasFailed(_ session: SessionHandle, at time: Duration) -> Bool {
    guard let nextTry = nextTries[session] else { return false }
    if time < nextTry { return true }
    nextTries[session] = nil
    return false
  }

  private static var timeBetweenAttempts: Duration { .seconds(60) }
  private static var maximumFailures: Int { 10_000 }
}
