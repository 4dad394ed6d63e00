// SPDX-License-Identifier: Apache-2.0

/// The queues of work that runs one after another (`Effect.serial`).
struct SerialQueues {
  private var waiting: [EffectID: ArraySlice<RunNumber>] = [:]
  private var running: [RunNumber: EffectID] = [:]

  /// Adds work to the end of a queue.
  ///
  /// - Returns: True if the work can begin: the queue was empty.
  mutating func add(_ run: RunNumber, to queue: EffectID) -> Bool {
    guard waiting[queue] == nil else {
      waiting[queue]?.append(run)
      return false
    }
    waiting[queue] = []
    running[run] = queue
    return true
  }

  /// Records that work has ended.
  ///
  /// - Parameter isCurrent: Returns false for work that was cancelled while it waited.
  /// - Returns: The work of the same queue to begin; nil if there is none.
  mutating func ended(_ run: RunNumber, _ isCurrent: (RunNumber) -> Bool) -> RunNumber? {
    if running.isEmpty { return nil }
    guard let queue = running.removeValue(forKey: run) else { return nil }
    while let next = waiting[queue]?.popFirst() {
      guard isCurrent(next) else { continue }
      running[next] = queue
      return next
    }
    waiting[queue] = nil
    return nil
  }
}
