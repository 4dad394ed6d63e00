// SPDX-License-Identifier: Apache-2.0

/// The state of loading the sessions of earlier processes one by one; see `Shard.beginRestoring`.
final class SessionLoader {
  typealias Step = (isolated Shard) -> Void

  /// True until the overview of the journal has been read.
  var isReading = false
  /// The number of sessions that own shared stores and are still being loaded. The journal counts as
  /// read after them.
  var owners = 0
  /// The error that occurred when the overview was read; nil if there was none.
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

  /// A step that waits for the overview, and after it for a session if there is one.
  struct Waiting {
    var session: (handle: String, identity: String?)?
    let step: Step
  }

  private var waiting: [Waiting] = []
  /// The sessions that are being loaded, and the steps that wait for each of them.
  private var loading: [SessionHandle: [Step]] = [:]

  /// Sessions that are loaded although no client attaches, in order.
  private var continuing: ArraySlice<SessionHandle> = []
  /// The sessions in `continuing` that could not be loaded. They are tried again after all other
  /// sessions.
  private var postponed: [SessionHandle] = []
  var hasContinuing: Bool { isReading || !continuing.isEmpty || !postponed.isEmpty }
  /// True once the sessions with work to continue may be loaded.
  var mayContinue = false
  /// The earliest time of the next attempt to load a session after a failure, because an attempt
  /// may read the whole journal.
  ///
  /// - Units: the shard's `uptime`.
  private var nextTries: [SessionHandle: Duration] = [:]
  /// True while such a session is being loaded.
  var isContinuing = false

  init(_ report: @escaping @Sendable (String) -> Void) { self.report = report }

  func add(_ waiting: Waiting) { self.waiting.append(waiting) }

  func takeWaiting() -> [Waiting] {
    defer { waiting = [] }
    return waiting
  }

  /// Adds a step that waits for a session.
  ///
  /// - Returns: True if the session is not being loaded yet.
  func add(_ step: @escaping Step, for session: SessionHandle) -> Bool {
    loading[session, default: []].append(step)
    return loading[session]?.count == 1
  }

  /// Removes and returns the steps that wait for a session.
  func take(_ session: SessionHandle) -> [Step] { loading.removeValue(forKey: session) ?? [] }

  /// Adds sessions that are loaded although no client attaches.
  func add(continuing sessions: [SessionHandle]) { continuing += sessions }

  /// Postpones a session that could not be loaded; the other sessions do not wait for it.
  func couldNotContinue(_ session: SessionHandle) { postponed.append(session) }

  /// Removes and returns the next session with work to continue. A session that could not be loaded
  /// is returned only after the time of its next attempt.
  func takeContinuing(at time: Duration) -> SessionHandle? {
    if let next = continuing.popFirst() { return next }
    guard let index = postponed.firstIndex(where: { !hasFailed($0, at: time) }) else { return nil }
    return postponed.remove(at: index)
  }

  /// Notes that a session could not be loaded. The next attempt is after 60 seconds.
  func failed(_ session: SessionHandle, at time: Duration) {
    nextTries[session] = time + .seconds(60)
  }

  /// Returns true if a session could not be loaded within the last 60 seconds.
  func hasFailed(_ session: SessionHandle, at time: Duration) -> Bool {
    guard let nextTry = nextTries[session] else { return false }
    if time < nextTry { return true }
    nextTries[session] = nil
    return false
  }
}
