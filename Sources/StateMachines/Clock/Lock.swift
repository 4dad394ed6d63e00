// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A value that a lock protects, for the few values that several threads use.
///
/// Not `Synchronization.Mutex`: on Linux the thread sanitizer does not understand it and reports
/// false races. The sanitizer is worth more here than `Mutex`.
package final class Lock<Value>: @unchecked Sendable {
  // @unchecked because every access to `value` holds `mutex`.
  private var value: Value
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  package init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Calls `body` with the value while the lock is held.
  ///
  /// `body` must be short and must not call `withLock` of the same lock: the lock is not recursive.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
