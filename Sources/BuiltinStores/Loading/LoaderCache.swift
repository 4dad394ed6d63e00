// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol
internal import StateMachines

/// What the loaders of one session share: the values that they keep, and the permits of those that
/// are limited.
public final class LoaderCache: Sendable {
  let values: ExpiringCache<ByteString, LoadedValue>
  private let permits = Lock<[LoaderConfiguration: Kept]>([:])

  /// - Parameter capacity: How many values are kept at most.
  ///
  /// And no more than make up 64 MiB.
  public init(capacity: Int) {
    values = ExpiringCache(capacity: capacity, maximumSize: 64 << 20) { $0.text.count }
  }

  /// A cache of a thousand values.
  public convenience init() { self.init(capacity: 1_000) }

  /// The permits of a tree; the same ones for equal trees, as long as anybody holds them.
  func permits(of tree: LoaderConfiguration) -> TreePermits {
    permits.withLock { kept in
      if let permits = kept[tree]?.permits { return permits }
      // One by one: trees may be large, and making a new dictionary would hash them all.
      for gone in kept.compactMap({ $1.permits == nil ? $0 : nil }) { kept[gone] = nil }
      let permits = TreePermits()
      kept[tree] = Kept(permits: permits)
      return permits
    }
  }

  private struct Kept {
    weak var permits: TreePermits?
  }
}

/// The permits of the limited loaders in one tree, and in equal ones of the same session: those with
/// one limit share them.
///
/// A limit inside of another one has permits of its own, so that nobody who holds a permit can wait
/// for somebody who waits for that one.
final class TreePermits: Sendable {
  private let permits = Lock<[[Int]: AsyncSemaphore]>([:])

  /// The permits of a loader.
  /// - Parameter limits: The limits around it, from the outside, and its own.
  func permits(under limits: [Int]) -> AsyncSemaphore {
    permits.withLock { permits in
      if let known = permits[limits] { return known }
      let new = AsyncSemaphore(limits.last ?? 1)
      permits[limits] = new
      return new
    }
  }
}
