// SPDX-License-Identifier: Apache-2.0

internal import HeapModule

/// Jobs that wait for a time.
///
/// - Units: deadlines are in nanoseconds, of any one clock.
struct TimerHeap<Job> {
  private struct Timer: Comparable {
    let deadline: UInt64
    /// Of two timers with one deadline the earlier one comes first.
    let number: UInt64
    let job: Job

    static func < (one: Timer, other: Timer) -> Bool {
      (one.deadline, one.number) < (other.deadline, other.number)
    }

    static func == (one: Timer, other: Timer) -> Bool { one.number == other.number }
  }

  private var timers = Heap<Timer>()
  private var lastNumber: UInt64 = 0

  var firstDeadline: UInt64? { timers.min?.deadline }

  mutating func insert(_ job: Job, at deadline: UInt64) {
    lastNumber += 1
    timers.insert(Timer(deadline: deadline, number: lastNumber, job: job))
  }

  /// Removes the jobs whose deadline has come.
  /// - Returns: The jobs in the order of their deadlines.
  mutating func removeAll(upTo now: UInt64) -> [Job] {
    var due: [Job] = []
    while let first = timers.min, first.deadline <= now {
      due.append(first.job)
      timers.removeMin()
    }
    return due
  }
}
