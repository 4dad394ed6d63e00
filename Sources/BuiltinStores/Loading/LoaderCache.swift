// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol
public import StateMachines

/// The values that the loaders of one session cache, and their semaphores.
public final class LoaderCache: Sendable {
  let values: ExpiringCache<ByteString, LoadedValue>
  private let permits = Lock<[LoaderConfiguration: UsedSemaphores]>([:])

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
  func permits(of tree: LoaderConfiguration) -> SemaphoreUse {
    let semaphores = permits.withLock { trees in
      var used = trees[tree] ?? UsedSemaphores()
      used.users += 1
      trees[tree] = used
      return used.semaphores
    }
    return SemaphoreUse(of: tree, semaphores, in: self)
  }

  /// Forgets a tree when the last loader that uses its semaphores ends.
  fileprivate func release(_ tree: LoaderConfiguration) {
    permits.withLock { trees in
      guard var used = trees[tree] else { return }
      used.users -= 1
      trees[tree] = used.users > 0 ? used : nil
    }
  }

  /// The number of different trees whose semaphores are in use.
  var treeCount: Int { permits.withLock { $0.count } }

  private struct UsedSemaphores {
    let semaphores = TreeSemaphores()
    var users = 0
  }
}

/// A use of the semaphores of a tree; the cache holds the tree as long as one exists.
final class SemaphoreUse: Sendable {
  let semaphores: TreeSemaphores
  private let tree: LoaderConfiguration
  private let cache: LoaderCache

  fileprivate init(
    of tree: LoaderConfiguration, _ semaphores: TreeSemaphores, in cache: LoaderCache
  ) {
    (self.tree, self.semaphores, self.cache) = (tree, semaphores, cache)
  }

  deinit { cache.release(tree) }
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
