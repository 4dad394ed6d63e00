// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The locks that guard the histories of all lists: a few for all of them, since one for each would be
/// the fiftieth part of all that an idle connection takes.
///
/// Nothing runs under them but what stands in `ListHistory`, so no thread ever takes a second one.
///
/// Not `Synchronization.Mutex`: on Linux the thread sanitizer does not see it and reports races that
/// are none.
enum ListLocks {
  private static let count = 64

  // because a mutex is made to be reached from several threads; these are never freed.
  private nonisolated(unsafe) static let first = {
    let first = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: count)
    for index in 0..<count { pthread_mutex_init(first + index, nil) }
    return first
  }()

  /// Calls `body` with the lock of a history; it must be short and must not come back here.
  static func withLock<Result>(of history: ListHistory, _ body: () -> Result) -> Result {
    // Objects stand 16 bytes apart or more.
    let address = UInt(bitPattern: Unmanaged.passUnretained(history).toOpaque())
    let mutex = first + Int((address >> 4 ^ address >> 10) % UInt(count))
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}
