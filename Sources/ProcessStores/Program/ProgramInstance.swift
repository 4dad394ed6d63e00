// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import StateMachines
internal import StatewireJSON

/// The last state of a store, on the thread of the program.
final class ProgramInstance {
  let setup: StoreSetup
  private(set) var version = 0
  private(set) var state = VersionedValue.empty
  private(set) var view: VersionedValue?
  private(set) var views: [String: VersionedValue] = [:]
  private var viewsBytes = 0
  private var lastKey = 0
  /// The feed of the store; nil before the store exists.
  var feed: ExchangeReply<ProcessAction>?
  /// The viewers; nil if they have never been passed on.
  var viewers: [Viewer]?
  /// The state of the request with the viewers.
  var viewersProgress = ViewersProgress.none
  enum ViewersProgress {
    case none
    case sent
    /// The viewers have changed since it was sent.
    case outdated
  }
  /// The repeated effects of which an action waits for the program or for its response.
  var openTicks: Set<Int> = []
  /// True once the program has a state of the store.
  var hasState = false
  /// True if the process knows the store, or has been asked to open it.
  var isOpen = false
  /// The reason why the program cannot use the state; nil if it can.
  var problem: String?
  /// The ids of the requests without a response, except work; the program responds in this order.
  var openRequests: Deque<Int> = []
  /// The jobs that wait until the program runs again.
  var waiting: [ProgramJob] = []
  /// The jobs that the next process gets again, because they had no response when this one ended.
  private var repeated: [ProgramJob] = []
  /// The number of consecutive failures at each effect, by the key of the effect; the key nil is
  /// restoring the store. A response of the program removes the number, and cancelling the effect does.
  private var failures: [Int?: Int] = [:]
  /// The number of failures after which a request is not repeated.
  private static let maximumFailures = 3

  /// The most views of single viewers. Each update copies the list of them.
  private static let maximumViews = 10_000

  /// Adds a job to those that are repeated. The jobs come in the order in which they were sent.
  func repeatLater(_ job: ProgramJob) { repeated.append(job) }

  /// Puts the repeated jobs before the waiting ones, which were not sent.
  func queueRepeated() {
    if repeated.isEmpty { return }
    waiting = repeated + waiting
    repeated = []
  }

  /// Removes work that waits.
  func cancel(_ work: Int) {
    waiting.removeAll { job in
      guard case .work(work, let pending, _, _) = job else { return false }
      forgetFailures(at: pending.key)
      return true
    }
  }

  /// Counts a failure of the program at an effect, or at restoring the store.
  ///
  /// - Parameter isLikely: False if many requests are suspected: it counts half.
  func failed(at key: Int?, isLikely: Bool) { failures[key, default: 0] += isLikely ? 2 : 1 }

  /// Forgets the failures at a request: the program has responded to it, or it was cancelled.
  func forgetFailures(at key: Int?) { if !failures.isEmpty { failures[key] = nil } }

  /// Forgets the failures, because the program has changed or has run for a while.
  func forgetFailures() { failures = [:] }

  /// True if the program has failed at a request.
  func hasFailed(_ key: Int?) -> Bool { failures[key] != nil }

  /// True if a request is not repeated.
  func hasFailedTooOften(_ key: Int?) -> Bool {
    failures[key, default: 0] >= 2 * Self.maximumFailures
  }

  init(_ setup: StoreSetup) { self.setup = setup }

  /// The key of `machine/viewers` among the failures.
  static let viewersKey = 0

  /// Takes the state of an earlier process.
  func restore(_ state: ProcessState) {
    version = state.version
    (self.state, view, views) = (state.state, state.view, state.views)
    countViews()
    lastKey = state.pending.map(\.key).max() ?? 0
    hasState = true
  }

  /// Removes the views of which the next process knows nothing.
  ///
  /// - Returns: False if there are none.
  func removeViews(_ description: ProgramDescription) -> Bool {
    if description.showsState {
      defer { (view, views, viewsBytes) = (nil, [:], 0) }
      return view != nil || !views.isEmpty
    }
    // The process makes those of the present viewers again.
    guard description.watchesViewers, let key = description.viewKey else { return false }
    let present = Set((viewers ?? []).compactMap { key.value(of: $0).map(viewName) })
    let count = views.count
    views = views.filter { present.contains($0.key) }
    countViews()
    return views.count < count
  }

  private func countViews() { viewsBytes = views.values.reduce(0) { $0 + $1.textBytes } }

  /// The state as JSON text, for the program.
  var stateText: JSONText { JSONText(state.jsonBytes()) }

  /// Applies an update.
  ///
  /// - Parameters:
  ///   - parsed: The update.
  ///   - input: The number of the input; nil if the update is not the response to one.
  ///   - ended: The effect that ends with it.
  ///   - description: The description of the program.
  ///   - checksSchemas: True to compare views and events with their schemas.
  ///   - now: The time, in milliseconds since 1970.
  /// - Throws: `JSONError` if it breaks the protocol; nothing has changed then.
  func apply(
    _ parsed: ParsedUpdate, of input: UInt64?, ending ended: Int?,
    by description: ProgramDescription, checksSchemas: Bool, now: Int
  ) throws(JSONError) -> ProcessUpdate {
    let state = try changed(self.state, by: parsed.state) ?? self.state
    if !hasState, parsed.state == nil {
      throw JSONError(.missing, "the update that opens a store needs a state")
    }
    let view = try changed(self.view ?? .empty, by: parsed.view) ?? self.view
    var (views, viewsBytes) = (self.views, self.viewsBytes)
    for (key, change) in parsed.views {
      let name = viewName(key)
      viewsBytes -= views[name]?.textBytes ?? 0
      views[name] = try change.map { change throws(JSONError) in
        try changed(views[name] ?? .empty, by: change) ?? .empty
      }
      viewsBytes += views[name]?.textBytes ?? 0
    }
    guard views.count <= Self.maximumViews else {
      throw JSONError(.limit, "a store has at most \(Self.maximumViews) views of single viewers")
    }
    if checksSchemas {
      let isShown = parsed.state != nil && view == nil || parsed.view != nil
      try description.check(
        views: (isShown ? [view ?? state] : [])
          + parsed.views.compactMap { views[viewName($0.key)] })
      try description.check(events: parsed.events)
    }
    version = description.version
    (self.state, self.view, hasState) = (state, view, true)
    (self.views, self.viewsBytes) = (views, viewsBytes)
    let effects = parsed.effects.map { effect in
      lastKey += 1
      return PendingEffect(key: lastKey, effect: effect, since: now)
    }
    return ProcessUpdate(
      version: version, state: state, view: view, views: views, viewsBytes: viewsBytes,
      effects: effects,
      events: parsed.events, isRedaction: parsed.isRedaction, ended: ended, answered: input)
  }

  private func changed(
    _ old: VersionedValue, by change: ParsedUpdate.Change?
  ) throws(JSONError) -> VersionedValue? {
    switch change {
    case nil: nil
    case .value(let value)?: VersionedValue(value)
    case .patch(let patch)?: try old.applying(patch)
    }
  }
}
