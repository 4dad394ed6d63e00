// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Glibc

/// A thread that runs blocking jobs in order. The thread ends when this object is deallocated,
/// after all jobs have run.
final class JobThread: Sendable {
  private let jobs = Jobs()

  /// - Throws: `StartupError` if the system cannot start a thread.
  init() throws(StartupError) {
    try SystemThread.start { [jobs] in while let job = jobs.next() { job() } }
  }

  deinit { jobs.end() }

  /// Runs a job after all jobs that were added before it.
  func run(_ job: @escaping @Sendable () -> Void) { jobs.add(job) }
}

/// The queue of a thread's jobs.
private final class Jobs: @unchecked Sendable {
  // @unchecked because `waiting` and `hasEnded` are used only while `mutex` is held.

  private var waiting: Deque<@Sendable () -> Void> = []
  private var hasEnded = false
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let hasChanged: UnsafeMutablePointer<pthread_cond_t>

  init() {
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    hasChanged = .allocate(capacity: 1)
    pthread_cond_init(hasChanged, nil)
  }

  deinit {
    pthread_cond_destroy(hasChanged)
    hasChanged.deallocate()
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func add(_ job: @escaping @Sendable () -> Void) {
    pthread_mutex_lock(mutex)
    waiting.append(job)
    pthread_mutex_unlock(mutex)
    pthread_cond_signal(hasChanged)
  }

  func end() {
    pthread_mutex_lock(mutex)
    hasEnded = true
    pthread_mutex_unlock(mutex)
    pthread_cond_signal(hasChanged)
  }

  /// Waits for a job and removes it from the queue.
  ///
  /// - Returns: Nil if the queue is empty and has ended.
  func next() -> (@Sendable () -> Void)? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while waiting.isEmpty {
      if hasEnded { return nil }
      pthread_cond_wait(hasChanged, mutex)
    }
    return waiting.removeFirst()
  }
}
