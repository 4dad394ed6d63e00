// SPDX-License-Identifier: Apache-2.0

/// A counter of bytes with a maximum, optionally a part of a larger account.
///
/// It counts and does not refuse anything, because existing bytes cannot be refused. The caller
/// checks `isFull` before it adds bytes.
public final class ByteAccount {
  /// The maximum number of bytes; of an account with a divided pool, the bytes that it has taken
  /// from the pool.
  public private(set) var maximum: Int
  /// The current number of bytes.
  public private(set) var bytes = 0
  private let whole: ByteAccount?
  /// The pool of all shards; nil if the account has its maximum alone.
  private let pool: BytePool?

  /// Creates an account, optionally as a part of another one, which counts the same bytes.
  public init(maximum: Int = .max, within whole: ByteAccount? = nil) {
    self.maximum = maximum
    self.whole = whole
    pool = nil
  }

  /// Creates a shard's account of bytes that all shards may use together.
  init(_ pool: BytePool, within whole: ByteAccount? = nil) {
    maximum = pool.isDivided ? 0 : pool.maximum
    self.whole = whole
    self.pool = pool.isDivided ? pool : nil
  }

  deinit {
    whole?.add(-bytes)
    pool?.use(-maximum)
  }

  /// Returns true if the account would exceed its maximum with `count` additional bytes.
  public func isExceeded(adding count: Int = 0) -> Bool {
    count > maximum - bytes && !takesPart(for: count)
  }

  /// Returns true if the account, or an account that contains it, would exceed its maximum with
  /// `count` additional bytes.
  public func isFull(adding count: Int = 0) -> Bool {
    isExceeded(adding: count) || whole?.isFull(adding: count) ?? false
  }

  /// Sets the current number of bytes.
  public func set(_ count: Int) { if count != bytes { add(count - bytes) } }

  /// Adds bytes; a negative count removes bytes.
  public func add(_ count: Int) {
    bytes += count
    whole?.add(count)
  }
}

// MARK: - Parts of a pool

extension ByteAccount {
  /// Takes one more part of the pool, so that `count` additional bytes fit.
  ///
  /// - Returns: False if the pool has too few bytes, or if there is none.
  private func takesPart(for count: Int) -> Bool {
    guard let pool else { return false }
    let missing = bytes + count - maximum
    for part in [max(missing, pool.part), missing] where pool.take(part) {
      maximum += part
      return true
    }
    return false
  }

  /// Takes bytes that were added without a check from the pool, and returns parts that are not
  /// used. It is called once a second.
  func rebalance() {
    guard let pool else { return }
    let unused = maximum - bytes
    guard unused < 0 || unused > 2 * pool.part else { return }
    let change = (unused < 0 ? 0 : pool.part) - unused
    pool.use(change)
    maximum += change
  }
}
