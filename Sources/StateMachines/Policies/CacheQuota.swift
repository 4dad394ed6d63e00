// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The total size that the values of several caches may have.
public final class CacheQuota: Sendable {
  private let maximum: Int
  private let outer: CacheQuota?
  private let used = Atomic(0)

  /// Creates a quota.
  ///
  /// - Parameters:
  ///   - maximum: The largest total size.
  ///   - outer: The quota that this one is a part of.
  public init(maximum: Int, within outer: CacheQuota? = nil) {
    self.maximum = maximum
    self.outer = outer
  }

  /// The size that is left, also of the outer quota.
  var free: Int { min(maximum - used.load(ordering: .relaxed), outer?.free ?? .max) }

  /// Takes a part of the quota.
  ///
  /// - Returns: False, with no change, if too little is left.
  func take(_ size: Int) -> Bool {
    var current = used.load(ordering: .relaxed)
    while true {
      guard size <= maximum - current else { return false }
      let (exchanged, original) = used.compareExchange(
        expected: current, desired: current + size, ordering: .relaxed)
      if exchanged { break }
      current = original
    }
    guard let outer, !outer.take(size) else { return true }
    used.wrappingSubtract(size, ordering: .relaxed)
    return false
  }

  /// Returns a part that was taken.
  func release(_ size: Int) {
    used.wrappingSubtract(size, ordering: .relaxed)
    outer?.release(size)
  }
}
