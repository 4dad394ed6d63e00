// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A thread that runs jobs in order, for jobs that block; it ends with this object, once all of them have run.
final class JobThread: Sendable {
  private let jobs = Jobs()

  /// - Throws: `StartupError` where the system allows no thread.
  init() throws(StartupError) {
    try SystemThread.start { [jobs] in while let job = jobs.next() { job() } }
  }

  deinit { jobs.end() }

  /// Runs a job after all that were added before.
  func run(_ job: @escaping @Sendable () -> Void) { jobs.add(job) }
}

/// The jobs of a thread.
private final class Jobs: @unchecked Sendable {
  // @unchecked because `waiting` and `hasEnded` are touched under `mutex` alone.

  private var waiting: [@Sendable () -> Void] = []
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

  /// Waits for a job and takes it out.
  ///
  /// - Returns: Nil if there is none and the end has come.
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
