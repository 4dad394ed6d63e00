// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Glibc
internal import Transports
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) internal import _Concurrency

/// The executor of tasks without a preferred executor: a pool of threads, and a thread for timers.
///
/// It replaces libdispatch, the default executor on Linux. While tasks wait for a thread,
/// libdispatch opens `/proc/<thread>/stat` once a second, and traps if that fails: no descriptor is
/// left, or `/proc` is not mounted. libdispatch opens files and starts threads on first use. This
/// pool acquires everything that it needs at the start.
///
/// - Source: swift-corelibs-libdispatch, src/event/workqueue.c,
///   `_dispatch_workq_count_runnable_workers`.
final class WorkerPool: @unchecked Sendable {
  // @unchecked because `state` is used only while `mutex` is held.

  private struct State {
    var jobs: Deque<UnownedJob> = []
    var timers = TimerHeap<UnownedJob>()
    var threads = 0
    /// The number of threads that wait for a job.
    var idle = 0
  }

  private var state = State()
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let hasJobs: UnsafeMutablePointer<pthread_cond_t>
  private let hasTimers: UnsafeMutablePointer<pthread_cond_t>
  private let maximumThreads: Int

  /// Starts the thread of the timers and the first one for jobs; more threads start as jobs arrive.
  ///
  /// The pool is never deallocated: it ends with the process.
  ///
  /// - Throws: `StartupError` if the system refuses a thread.
  init(maximumThreads: Int = WorkerPool.standardThreads) throws(StartupError) {
    self.maximumThreads = maximumThreads
    mutex = .allocate(capacity: 1)
    hasJobs = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(hasJobs, nil)
    hasTimers = .allocate(capacity: 1)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(hasTimers, &attributes)
    pthread_condattr_destroy(&attributes)
    try SystemThread.start { self.runTimers() }
    try SystemThread.start { self.runJobs() }
    withState { $0.threads = 1 }
  }

  /// One thread per processor, at most 32; at least 4, so that a slow disk does not delay all jobs.
  private static var standardThreads: Int { min(max(4, sysconf(CInt(_SC_NPROCESSORS_ONLN))), 32) }

  /// Calls `body`, which must not wait for a condition: other threads would change `state` while
  /// `body` has exclusive access to it, and the compiler may keep parts of it in registers.
  private func withState<Result>(_ body: (inout State) -> Result) -> Result {
    whileLocked { body(&state) }
  }

  /// Calls `body`, which may wait for a condition between uses of `state`.
  private func whileLocked<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}

// MARK: - Jobs

extension WorkerPool: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    add(UnownedJob(job))
  }

  /// Adds a job, and starts a thread if fewer threads than jobs wait.
  private func add(_ job: UnownedJob) {
    let (isAwaited, isShort) = withState { state in
      state.jobs.append(job)
      let isShort = state.jobs.count > state.idle && state.threads < maximumThreads
      if isShort { state.threads += 1 }
      return (state.idle > 0, isShort)
    }
    if isAwaited { pthread_cond_signal(hasJobs) }
    guard isShort else { return }
    do {
      try SystemThread.start { self.runJobs() }
    } catch {
      // The job waits for one of the existing threads.
      withState { $0.threads -= 1 }
    }
  }

  private func runJobs() {
    Self.lowerPriority()
    while true { nextJob().runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// Lowers the priority of the current thread below that of the threads that serve clients: jobs
  /// are long, and clients wait for those threads. On Linux each thread has its own priority.
  private static func lowerPriority() { _ = setpriority(CInt(PRIO_PROCESS.rawValue), 0, 5) }

  private func nextJob() -> UnownedJob {
    whileLocked {
      while true {
        if let job = state.jobs.popFirst() { return job }
        state.idle += 1
        pthread_cond_wait(hasJobs, mutex)
        state.idle -= 1
      }
    }
  }
}

// MARK: - Timers

extension WorkerPool: SchedulingExecutor {
  func enqueue<C: Clock>(
    _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
  ) {
    enqueue(job, after: clock.now.duration(to: instant), tolerance: tolerance, clock: clock)
  }

  /// Runs a job after a delay; it may be late, but not early. The tolerance is ignored.
  func enqueue<C: Clock>(
    _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
  ) {
    guard let delay = delay as? Duration else {
      preconditionFailure("the clocks of this program measure in seconds")
    }
    let job = UnownedJob(job)
    let deadline = Self.nanoseconds(CLOCK_BOOTTIME, after: delay)
    let isFirst = withState { state in
      state.timers.insert(job, at: deadline)
      return state.timers.firstDeadline == deadline
    }
    if isFirst { pthread_cond_signal(hasTimers) }
  }

  private func runTimers() {
    while true {
      let due = whileLocked {
        let now = Self.nanoseconds(CLOCK_BOOTTIME, after: .zero)
        let due = state.timers.removeAll(upTo: now)
        if due.isEmpty { waitForTimer(state.timers.firstDeadline.map { $0 - now }) }
        return due
      }
      for job in due { add(job) }
    }
  }

  /// Waits for a change of the timers or for the first deadline, but at most one second. Deadlines
  /// also pass while the machine sleeps, as those of `ContinuousClock` do, and a condition variable
  /// cannot wait by such a clock.
  private func waitForTimer(_ nanoseconds: UInt64?) {
    guard let nanoseconds else {
      pthread_cond_wait(hasTimers, mutex)
      return
    }
    let delay = Duration.nanoseconds(Int64(min(nanoseconds, 1_000_000_000)))
    let end = Self.nanoseconds(CLOCK_MONOTONIC, after: delay)
    var time = timespec(tv_sec: Int(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
    pthread_cond_timedwait(hasTimers, mutex, &time)
  }

  private static func nanoseconds(_ clock: clockid_t, after delay: Duration) -> UInt64 {
    var now = timespec()
    clock_gettime(clock, &now)
    let (seconds, attoseconds) = max(.zero, delay).components
    // The bound of 34 years prevents an overflow.
    return (UInt64(now.tv_sec) + UInt64(min(seconds, 1 << 30))) * 1_000_000_000
      + UInt64(now.tv_nsec) + UInt64(attoseconds / 1_000_000_000)
  }
}
