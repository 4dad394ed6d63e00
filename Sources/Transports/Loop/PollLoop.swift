// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import ServerCore
internal import Synchronization

/// The loop of one thread: it waits for a few descriptors, for time, and for what other threads hand
/// over, and is an executor for tasks and for one shard.
///
/// An event loop of SwiftNIO does the same for thousands of sockets. Here are only pipes, and what
/// begins when a frontend spawns the service is what that frontend waits for.
public final class PollLoop: @unchecked Sendable {
  // @unchecked because all but `pieces` is touched on the thread of `run` alone.

  /// Something that is ready to run.
  private enum Piece {
    case call(@Sendable () -> Void)
    case job(UnownedJob)
  }

  private struct Timer {
    let deadline: ContinuousClock.Instant
    let body: () -> Void
  }

  private let pieces = Lock([Piece]())
  /// Made readable by other threads when they have handed something over.
  private let wake: LoopPipe
  private let thread = Atomic<UInt>(0)
  private var polled: [pollfd] = []
  /// Who is told of each of them.
  private var watches: [(Int16) -> Void] = []
  /// The next one last.
  private var timers: [Timer] = []
  private var isStopped = false
  /// The pipe that signal handlers write to; nil if this loop watches no signals.
  var signals: LoopPipe?
  /// Called each time that there is nothing left to do but to wait; on the loop's thread only.
  var beforeWaiting: () -> Void = {}

  /// A loop that does not run yet.
  ///
  /// - Throws: `StartupError` where the process has too many files open.
  public init() throws(StartupError) {
    wake = try LoopPipe()
    watch(wake.readEnd) { [wake] _ in
      var bytes: UInt64 = 0
      _ = read(wake.readEnd, &bytes, MemoryLayout.size(ofValue: bytes))
    }
    want(POLLIN, of: wake.readEnd)
  }

  deinit {
    close(wake.readEnd)
    close(wake.writeEnd)
    closeSignals()
  }

  /// Runs on this thread until some work has ended, which begins here as well.
  public func run(until work: @escaping @Sendable () async -> Void) {
    Task(executorPreference: self) {
      await work()
      self.stop()
    }
    run()
  }

  /// Runs on this thread until `stop`.
  public func run() {
    thread.store(UInt(pthread_self()), ordering: .relaxed)
    while !isStopped {
      runPieces()
      runTimers()
      if isStopped { break }
      beforeWaiting()
      wait()
    }
    // What has been handed over since, a task that waits for the end of this, say.
    runPieces()
  }

  /// Lets `run` return.
  public func stop() {
    execute { self.isStopped = true }
  }

  /// Whether this is the loop's thread.
  var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Runs something on the loop's thread, after all that was handed over before.
  func execute(_ body: @escaping @Sendable () -> Void) { add(.call(body)) }

  private func add(_ piece: Piece) {
    let wasEmpty = pieces.withLock { pieces in
      pieces.append(piece)
      return pieces.count == 1
    }
    // On its own thread it looks before it waits, and it has been woken for those before.
    if wasEmpty, !isCurrent { wakeUp() }
  }

  private func wakeUp() {
    var byte: UInt8 = 1
    // A full pipe wakes as well.
    _ = write(wake.writeEnd, &byte, 1)
  }

  private func runPieces() {
    let ready = pieces.withLock { pieces in
      var ready: [Piece] = []
      swap(&ready, &pieces)
      return ready
    }
    for piece in ready {
      switch piece {
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
  /// Does something later; on the loop's thread only.
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

  /// Milliseconds until there is something to do; negative: not by itself.
  private var timeout: CInt {
    if pieces.withLock({ !$0.isEmpty }) { return 0 }
    guard let next = timers.last else { return -1 }
    let left = ContinuousClock.now.duration(to: next.deadline)
    let (seconds, attoseconds) = max(Duration.zero, left).components
    // Rounded up, so that it is not early and has to wait again.
    return CInt(clamping: min(seconds, 1 << 20) * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
  }
}

// MARK: - Descriptors

extension PollLoop {
  /// Gets to know a descriptor, of which nothing is wanted yet; on the loop's thread, or before it
  /// runs.
  ///
  /// - Parameter body: Told what can be done with it.
  func watch(_ descriptor: CInt, _ body: @escaping (Int16) -> Void) {
    polled.append(pollfd(fd: ~descriptor, events: 0, revents: 0))
    watches.append(body)
  }

  /// Says what is waited for; 0: nothing, not even its end.
  func want(_ events: CInt, of descriptor: CInt) {
    // A negative descriptor is not looked at, where one without events would still tell of its end,
    // over and over.
    guard let place = polled.firstIndex(where: { $0.fd == descriptor || $0.fd == ~descriptor })
    else { return }
    polled[place].fd = events == 0 ? ~descriptor : descriptor
    polled[place].events = Int16(events)
  }

  private func wait() {
    let count = poll(&polled, nfds_t(polled.count), timeout)
    guard count > 0 else { return }
    for place in polled.indices where polled[place].revents != 0 && polled[place].fd >= 0 {
      watches[place](polled[place].revents)
    }
  }
}

// MARK: - Executors

extension PollLoop: SerialExecutor, TaskExecutor {
  public func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

  public func checkIsolated() { precondition(isCurrent, "not on the loop's thread") }
}
