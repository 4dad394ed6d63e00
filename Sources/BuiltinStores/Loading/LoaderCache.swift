// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol
public import StateMachines

/// The values that the loaders of one session cache, and their semaphores.
public final class LoaderCache: Sendable {
  let values: ExpiringCache<ByteString, LoadedValue>
  private let permits = Lock<[LoaderConfiguration: WeakSemaphores]>([:])

  /// The bytes that a value counts beside its text: those of its key, which has at most 256, and
  /// of its entry.
  private static var bytesPerValue: Int { 512 }

  /// Creates a cache.
  ///
  /// - Parameters:
  ///   - capacity: The largest number of values.
  ///   - quota: The quota of their bytes. Each value counts its text and 512 bytes.
  public init(capacity: Int = 1_000, within quota: CacheQuota) {
    values = ExpiringCache(capacity: capacity, within: quota) {
      $0.text.count + Self.bytesPerValue
    }
  }

  /// Creates a cache whose values have at most 64 MiB.
  ///
  /// - Parameter capacity: The largest number of values.
  public convenience init(capacity: Int) {
    self.init(
      capacity: capacity, within: CacheQuota(maximum: LoaderCaches.maximumBytes))
  }

  /// Creates a cache of up to 1,000 values.
  public convenience init() { self.init(capacity: 1_000) }

  /// Returns the semaphores of a tree. Equal trees get the same ones while one of them exists.
  func permits(of tree: LoaderConfiguration) -> TreeSemaphores {
    permits.withLock { cached in
      if let permits = cached[tree]?.permits { return permits }
      // One by one: trees may be large, and a filtered dictionary would hash all keys again.
      for gone in cached.compactMap({ $1.permits == nil ? $0 : nil }) { cached[gone] = nil }
      let permits = TreeSemaphores()
      cached[tree] = WeakSemaphores(permits: permits)
      return permits
    }
  }

  private struct WeakSemaphores {
    weak var permits: TreeSemaphores?
  }
}

/// The semaphores of the limited loaders in one tree, and in equal trees of the same session.
/// Loaders with the same limit share one.
///
/// A limit inside another limit has a separate semaphore. Otherwise a loader that holds a permit
/// could wait for a loader that waits for the same permit.
final class TreeSemaphores: Sendable {
  private let permits = Lock<[[Int]: AsyncSemaphore]>([:])

  /// Returns the semaphore of a loader.
  ///
  /// - Parameter limits: The limits around the loader, the outermost first, and then its own limit.
  func permits(under limits: [Int]) -> AsyncSemaphore {
    permits.withLock { permits in
      if let known = permits[limits] { return known }
      let new = AsyncSemaphore(limits.last ?? 1)
      permits[limits] = new
      return new
    }
  }
}
