// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The locks for the histories of all lists. There are 64 locks for all lists, because one lock per
/// list would be a fiftieth of the memory of an idle connection.
///
/// Only code in `ListHistory` runs under these locks, so no thread ever takes a second one.
///
/// `Synchronization.Mutex` is not used: on Linux the thread sanitizer does not recognize it and
/// reports races that do not exist.
enum ListLocks {
  private static let count = 64

  // because a mutex is made to be reached from several threads; these are never freed.
  private nonisolated(unsafe) static let first = {
    let first = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: count)
    for index in 0..<count { pthread_mutex_init(first + index, nil) }
    return first
  }()

  /// Calls `body` while the lock of a history is held; `body` must be short and must not call this
  /// function.
  static func withLock<Result>(of history: ListHistory, _ body: () -> Result) -> Result {
    // The addresses of objects are multiples of 16 bytes.
    let address = UInt(bitPattern: Unmanaged.passUnretained(history).toOpaque())
    let mutex = first + Int((address >> 4 ^ address >> 10) % UInt(count))
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}
