// SPDX-License-Identifier: Apache-2.0

/// Jobs in the order in which they came.
struct JobQueue<Job> {
  private var jobs: [Job] = []
  /// The place of the first one.
  private var first = 0

  var count: Int { jobs.count - first }

  mutating func append(_ job: Job) { jobs.append(job) }

  mutating func popFirst() -> Job? {
    guard first < jobs.count else { return nil }
    defer {
      first += 1
      if first == jobs.count {
        jobs.removeAll(keepingCapacity: first <= 1024)
        first = 0
      } else if first >= 1024, first * 2 > jobs.count {
        jobs.removeFirst(first)
        first = 0
      }
    }
    return jobs[first]
  }
}

/// Jobs that wait for a time, in a binary heap.
///
/// - Units: deadlines are in nanoseconds, of whatever clock.
struct TimerHeap<Job> {
  private struct Timer {
    let deadline: UInt64
    /// Of two with one deadline the earlier one comes first.
    let number: UInt64
    let job: Job

    func isBefore(_ other: Timer) -> Bool {
      (deadline, number) < (other.deadline, other.number)
    }
  }

  private var timers: [Timer] = []
  private var lastNumber: UInt64 = 0

  var firstDeadline: UInt64? { timers.first?.deadline }

  mutating func insert(_ job: Job, at deadline: UInt64) {
    lastNumber += 1
    timers.append(Timer(deadline: deadline, number: lastNumber, job: job))
    var place = timers.count - 1
    while place > 0 {
      let parent = (place - 1) / 2
      guard timers[place].isBefore(timers[parent]) else { return }
      timers.swapAt(place, parent)
      place = parent
    }
  }

  /// Removes the jobs whose deadline has come.
  /// - Returns: The jobs in the order of their deadlines.
  mutating func removeAll(upTo now: UInt64) -> [Job] {
    var due: [Job] = []
    while let first = timers.first, first.deadline <= now {
      due.append(first.job)
      removeFirst()
    }
    return due
  }

  private mutating func removeFirst() {
    timers.swapAt(0, timers.count - 1)
    timers.removeLast()
    var place = 0
    while true {
      let children = (2 * place + 1..<2 * place + 3).clamped(to: 0..<timers.count)
      guard
        let child = children.min(by: { timers[$0].isBefore(timers[$1]) }),
        timers[child].isBefore(timers[place])
      else { return }
      timers.swapAt(place, child)
      place = child
    }
  }
}
