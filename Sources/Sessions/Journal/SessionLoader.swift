// SPDX-License-Identifier: Apache-2.0

/// What is known of the sessions of earlier processes while they are loaded one by one; see `Shard.beginRestoring`.
final class SessionLoader {
  typealias Step = (isolated Shard) -> Void

  /// True until the overview of the journal is there.
  var isReading = false
  /// Why it could not be read; nil if it could.
  var failure: (any Error)?
  /// True when the shard ends: nothing more is loaded.
  var isStopped = false
  /// Takes sentences for the operator.
  let report: @Sendable (String) -> Void

  /// What waits for the overview, and after it for a session, if one is named.
  struct Waiting {
    var session: (handle: String, identity: String?)?
    let step: Step
  }

  private var waiting: [Waiting] = []
  /// Sessions that are being loaded, and what waits for each.
  private var loading: [SessionHandle: [Step]] = [:]

  /// Sessions that are loaded although no frontend comes, in order.
  private var continuing: ArraySlice<SessionHandle> = []
  /// Those of them that could not be loaded; they are tried again after all others.
  private var postponed: [SessionHandle] = []
  var hasContinuing: Bool { isReading || !continuing.isEmpty || !postponed.isEmpty }
  /// True once the sessions that continue may be loaded.
  var mayContinue = false
  /// When a session that could not be loaded may be tried again: the journal may have to be read as a whole for it.
  ///
  /// - Units: the shard's `uptime`.
  private var nextTries: [SessionHandle: Duration] = [:]
  /// True while one of them is loaded.
  var isContinuing = false

  init(_ report: @escaping @Sendable (String) -> Void) { self.report = report }

  func add(_ waiting: Waiting) { self.waiting.append(waiting) }

  func takeWaiting() -> [Waiting] {
    defer { waiting = [] }
    return waiting
  }

  /// Adds something that waits for a session.
  ///
  /// - Returns: True if the session is not being loaded yet.
  func add(_ step: @escaping Step, for session: SessionHandle) -> Bool {
    loading[session, default: []].append(step)
    return loading[session]?.count == 1
  }

  /// Takes out what waits for a session.
  func take(_ session: SessionHandle) -> [Step] { loading.removeValue(forKey: session) ?? [] }

  /// Adds sessions that are loaded although no frontend comes.
  func add(continuing sessions: [SessionHandle]) { continuing += sessions }

  /// A session that continues could not be loaded; the others do not wait for it.
  func couldNotContinue(_ session: SessionHandle) { postponed.append(session) }

  /// Takes out the next session that continues, of those that could not be loaded one whose time has come.
  func takeContinuing(at time: Duration) -> SessionHandle? {
    if let next = continuing.popFirst() { return next }
    guard let index = postponed.firstIndex(where: { !hasFailed($0, at: time) }) else { return nil }
    return postponed.remove(at: index)
  }

  /// A session could not be loaded.
  func failed(_ session: SessionHandle, at time: Duration) {
    nextTries[session] = time + .seconds(60)
  }

  /// True if a session could not be loaded a short time ago.
  func hasFailed(_ session: SessionHandle, at time: Duration) -> Bool {
    guard let nextTry = nextTries[session] else { return false }
    if time < nextTry { return true }
    nextTries[session] = nil
    return false
  }
}
