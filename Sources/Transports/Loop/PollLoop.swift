// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import ServerCore
internal import Synchronization

/// An event loop on one thread. It waits for a few descriptors, for timers, and for calls from
/// other threads, and is the executor of tasks and of one shard.
///
/// An event loop of SwiftNIO does the same for thousands of sockets. This loop only has pipes, and
/// it starts faster: a frontend that spawns the server waits for that.
public final class PollLoop: @unchecked Sendable {
  // @unchecked because all but `work` is used only on the thread of `run`.

  /// Work that is ready to run.
  private enum Work {
    case call(@Sendable () -> Void)
    case job(UnownedJob)
  }

  private struct Timer {
    let deadline: ContinuousClock.Instant
    let body: () -> Void
  }

  private let work = Lock([Work]())
  /// Written to by other threads after they have added work.
  private let wake: LoopPipe
  private let thread = Atomic<UInt>(0)
  private var polled: [pollfd] = []
  /// The callback of each polled descriptor, in the order of `polled`.
  private var callbacks: [(Int16) -> Void] = []
  /// Sorted by deadline; the earliest is last.
  private var timers: [Timer] = []
  private var isStopped = false
  /// The pipe that signal handlers write to; nil if this loop watches no signals.
  var signals: LoopPipe?
  /// Called on the loop's thread each time before the loop waits.
  var beforeWaiting: () -> Void = {}

  /// Creates a loop that does not run yet.
  ///
  /// - Throws: `StartupError` if the process has too many open files.
  public init() throws(StartupError) {
    wake = try LoopPipe()
    watch(wake.readEnd) { [wake] _ in
      var bytes: UInt64 = 0
      _ = read(wake.readEnd, &bytes, MemoryLayout.size(ofValue: bytes))
    }
    setEvents(POLLIN, of: wake.readEnd)
  }

  deinit {
    close(wake.readEnd)
    close(wake.writeEnd)
    closeSignals()
  }

  /// Runs `operation` and the loop on this thread; returns when `operation` has ended.
  public func run(until operation: @escaping @Sendable () async -> Void) {
    Task(executorPreference: self) {
      await operation()
      self.stop()
    }
    run()
  }

  /// Runs the loop on this thread until `stop` is called.
  public func run() {
    thread.store(UInt(pthread_self()), ordering: .relaxed)
    while !isStopped {
      runWork()
      runTimers()
      if isStopped { break }
      beforeWaiting()
      wait()
    }
    // Runs what was added since, for example a task that waits for the end of `run`.
    runWork()
  }

  /// Makes `run` return after the work that was added before; from any thread.
  public func stop() {
    execute { self.isStopped = true }
  }

  /// True on the loop's thread.
  var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Runs `body` on the loop's thread, after all work that was added before; from any thread.
  func execute(_ body: @escaping @Sendable () -> Void) { add(.call(body)) }

  private func add(_ item: Work) {
    let wasEmpty = work.withLock { work in
      work.append(item)
      return work.count == 1
    }
    // The loop's own thread checks `work` before it waits; earlier work has already woken it.
    if wasEmpty, !isCurrent { wakeUp() }
  }

  private func wakeUp() {
    var byte: UInt8 = 1
    // A full pipe wakes the loop as well.
    _ = write(wake.writeEnd, &byte, 1)
  }

  private func runWork() {
    let ready = work.withLock { work in
      var ready: [Work] = []
      swap(&ready, &work)
      return ready
    }
    for item in ready {
      switch item {
      case .call(let body): body()
      case .job(let job):
        job.runSynchronously(
          isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      }
    }
  }
}

// MARK: - Time

extension PollLoop {
  /// Calls `body` after a delay; on the loop's thread only.
  func schedule(after delay: Duration, _ body: @escaping () -> Void) {
    let timer = Timer(deadline: .now + delay, body: body)
    let place = timers.firstIndex { $0.deadline <= timer.deadline } ?? timers.endIndex
    timers.insert(timer, at: place)
  }

  private func runTimers() {
    guard !timers.isEmpty else { return }
    let now = ContinuousClock.now
    while let timer = timers.last, timer.deadline <= now {
      timers.removeLast()
      timer.body()
    }
  }

  /// Milliseconds until the next work; negative if only a descriptor or another thread can cause
  /// work.
  private var timeout: CInt {
    if work.withLock({ !$0.isEmpty }) { return 0 }
    guard let next = timers.last else { return -1 }
    let remaining = ContinuousClock.now.duration(to: next.deadline)
    let (seconds, attoseconds) = max(Duration.zero, remaining).components
    // Rounded up, so that the loop does not wake too early and wait again.
    return CInt(clamping: min(seconds, 1 << 20) * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
  }
}

// MARK: - Descriptors

extension PollLoop {
  /// Adds a descriptor with no wanted events; on the loop's thread, or before the loop runs.
  ///
  /// - Parameter body: Called with the events of poll(2) that have occurred.
  func watch(_ descriptor: CInt, _ body: @escaping (Int16) -> Void) {
    polled.append(pollfd(fd: ~descriptor, events: 0, revents: 0))
    callbacks.append(body)
  }

  /// Sets the events of poll(2) to wait for; 0 for none, not even the end of the stream.
  ///
  /// - Complexity: O(n) in the number of descriptors.
  func setEvents(_ events: CInt, of descriptor: CInt) {
    // poll(2) skips a negative descriptor. Without events it would still report the end of the
    // stream, again and again.
    guard let place = polled.firstIndex(where: { $0.fd == descriptor || $0.fd == ~descriptor })
    else { return }
    polled[place].fd = events == 0 ? ~descriptor : descriptor
    polled[place].events = Int16(events)
  }

  private func wait() {
    let count = poll(&polled, nfds_t(polled.count), timeout)
    guard count > 0 else { return }
    for place in polled.indices where polled[place].revents != 0 && polled[place].fd >= 0 {
      callbacks[place](polled[place].revents)
    }
  }
}

// MARK: - Executors

extension PollLoop: ClosureExecutor, TaskExecutor {
  /// Adds a job of a task or an actor; from any thread.
  public func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

  /// Adds a closure to the jobs; from any thread.
  public func enqueue(_ body: @escaping @Sendable () -> Void) { add(.call(body)) }

  /// Traps on any thread but the loop's.
  public func checkIsolated() { precondition(isCurrent, "not on the loop's thread") }
}
