// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The locks for the histories of the lists that one thread has created.
///
/// There are 64 locks for all these lists, because one lock per list would be a fiftieth of the
/// memory of an idle connection. Threads have different locks as far as possible, because a list is
/// mostly changed on the thread that has created it, and threads must not slow each other down.
///
/// Only code in `ListHistory` runs under these locks, so no thread ever takes a second one.
///
/// `Synchronization.Mutex` is not used: on Linux the thread sanitizer does not recognize it and
/// reports races that do not exist.
struct ListLocks {
  private static let count = 64
  private static let threads = 64
  /// The size of a cache line, so that no line has the locks of two threads.
  private static let alignment = 64

  private let thread: UInt8

  // because a mutex is made to be reached from several threads; these are never freed.
  private nonisolated(unsafe) static let first = {
    let size = threads * bytesOfThread
    let first = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: alignment)
    for thread in 0..<threads {
      for index in 0..<count {
        pthread_mutex_init(mutexes(of: thread, from: first) + index, nil)
      }
    }
    return first
  }()

  private static let bytesOfThread =
    (count * MemoryLayout<pthread_mutex_t>.stride + alignment - 1) / alignment * alignment

  private static func mutexes(
    of thread: Int, from first: UnsafeMutableRawPointer
  ) -> UnsafeMutablePointer<pthread_mutex_t> {
    (first + thread * bytesOfThread).assumingMemoryBound(to: pthread_mutex_t.self)
  }

  /// The locks of the calling thread.
  static var ofThisThread: ListLocks {
    // Threads are aligned to pages, mostly at equal distances: the product spreads them.
    #if canImport(Glibc)
      let address = pthread_self()
    #else
      let address = UInt(bitPattern: pthread_self())
    #endif
    let page = UInt64(address >> 12)
    return ListLocks(thread: UInt8(truncatingIfNeeded: (page &* 0x9E37_79B9_7F4A_7C15) >> 58))
  }

  /// Calls `body` while the lock of a history is held; `body` must be short and must not call this
  /// function.
  func withLock<Result>(of history: ListHistory, _ body: () -> Result) -> Result {
    // The addresses of objects are multiples of 16 bytes.
    let address = UInt(bitPattern: Unmanaged.passUnretained(history).toOpaque())
    let index = Int((address >> 4 ^ address >> 10) % UInt(Self.count))
    let mutex = Self.mutexes(of: Int(thread), from: Self.first) + index
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}
