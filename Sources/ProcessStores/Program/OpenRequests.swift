// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import StateMachines

/// The requests to a process that have no response.
///
/// A process works in order, except that it does the work of effects beside the other requests.
struct OpenRequests {
  /// A request, with the end of the note that the server is busy with it.
  typealias Entry = (request: Request, ended: (@Sendable () -> Void)?)

  enum Request {
    case describe
    // Indirect, so that the other cases are small.
    indirect case open(
      ProgramInstance, now: Int, @Sendable (Result<ProcessState, InputRefusal>) -> Void)
    case restore(ProgramInstance)
    case viewers(ProgramInstance)
    case job(ProgramInstance, ProgramJob)
    /// A request that only shows that the process continues after the one before.
    case probe

    fileprivate var isWork: Bool { if case .job(_, .work) = self { true } else { false } }

    /// The store of which it is a request in order; nil for none.
    fileprivate var store: ProgramInstance? {
      switch self {
      case .open(let instance, _, _), .restore(let instance), .viewers(let instance): instance
      case .job(let instance, _): isWork ? nil : instance
      case .describe, .probe: nil
      }
    }

    /// True if the next process gets the request, too, although it is no work.
    fileprivate var isRepeated: Bool {
      switch self {
      case .restore, .viewers, .job(_, .action): true
      case .describe, .open, .job, .probe: false
      }
    }
  }

  /// The requests in order, with gaps for those that have responses and for work.
  private var ordered: Deque<Entry?> = []
  /// The id of the first of them.
  private var firstID = 0
  /// The work, by the id of its request.
  private var work: [Int: Entry] = [:]
  /// The highest id of the requests in order that have responses.
  private var lastEnded = 0
  /// The id of the oldest request in order when `waitingTime` was last called, and the time since which
  /// it is the oldest.
  private var oldest = (id: 0, since: ContinuousClock.now)

  /// Adds a request; its id is greater than those before.
  mutating func add(_ id: Int, _ entry: Entry) {
    guard !entry.request.isWork else {
      work[id] = entry
      return
    }
    entry.request.store?.openRequests.append(id)
    if ordered.isEmpty { firstID = id }
    while firstID + ordered.count < id { ordered.append(nil) }
    ordered.append(entry)
  }

  /// The place of a request in order. The process chooses the id: any integer.
  private func index(of id: Int) -> Int? {
    let index = id < firstID ? -1 : id - firstID
    return ordered.indices.contains(index) ? index : nil
  }

  /// True unless an earlier request of the same store has no response.
  func isNext(_ id: Int) -> Bool {
    // The oldest one is usual, and cheap to find.
    guard id != firstID, let index = index(of: id), let store = ordered[index]?.request.store
    else { return true }
    return store.openRequests.first == id
  }

  /// Removes a request that has its response; nil if there is none with this id.
  mutating func remove(_ id: Int) -> Entry? {
    guard let index = index(of: id), let entry = ordered[index].take() else {
      return work.isEmpty ? nil : work.removeValue(forKey: id)
    }
    entry.request.store?.openRequests.removeFirst()
    lastEnded = max(lastEnded, id)
    while let first = ordered.first, first == nil {
      ordered.removeFirst()
      firstID += 1
    }
    return entry
  }

  /// Removes all requests, in the order in which they were sent.
  mutating func removeAll() -> [Entry] {
    var entries = work.map { (id: $0.key, entry: $0.value) }
    for (index, entry) in ordered.enumerated() {
      if let entry { entries.append((firstID + index, entry)) }
    }
    (ordered, work) = ([], [:])
    // The ids of another process begin again.
    (oldest.id, lastEnded) = (0, 0)
    for (_, entry) in entries { entry.request.store?.openRequests.removeAll() }
    return entries.sorted { $0.id < $1.id }.map(\.entry)
  }

  /// Removes the requests that open a store. They have no responses, so nothing is known of those
  /// before them.
  mutating func removeOpenings() -> [Entry] {
    let ids = ordered.indices.filter {
      if case .open? = ordered[$0]?.request { true } else { false }
    }.map { $0 + firstID }
    let last = lastEnded
    defer { lastEnded = last }
    return ids.compactMap { remove($0) }
  }

  /// The requests at which a process has probably failed, as far as the next one would get them again.
  ///
  /// A process begins its requests in order. So it has failed at the work that it was asked for after the
  /// last response, or else at the first request in order. Work may also fail at any later time: if that
  /// request is not repeated, all work is suspected.
  ///
  /// - Returns: The requests, and true if one of them is the culprit for all that is known.
  var suspects: (requests: [Request], areLikely: Bool) {
    let next = ordered.isEmpty ? Int.max : firstID
    let begun = work.filter { $0.key > lastEnded && $0.key < next }
    guard begun.isEmpty else { return (begun.values.map(\.request), true) }
    if let first = (ordered.first ?? nil)?.request, first.isRepeated { return ([first], true) }
    return (work.values.map(\.request), false)
  }

  /// Returns the work whose request has an id; nil if there is none.
  func work(_ id: Int) -> Request? { work[id]?.request }

  /// True if there are no requests except work.
  var isIdle: Bool { ordered.isEmpty }

  /// The time for which the process has worked at its oldest request in order, however many requests wait
  /// for it; nil if there is none.
  mutating func waitingTime(at now: ContinuousClock.Instant) -> Duration? {
    guard !ordered.isEmpty else { return nil }
    if oldest.id != firstID { oldest = (firstID, now) }
    return now - oldest.since
  }
}
