// SPDX-License-Identifier: Apache-2.0

/// A counter of bytes with a maximum, optionally a part of a larger account.
///
/// It counts and does not refuse anything, because existing bytes cannot be refused. The caller
/// checks `isFull` before it adds bytes.
public final class ByteAccount {
  /// The maximum number of bytes.
  public let maximum: Int
  /// The current number of bytes.
  public private(set) var bytes = 0
  private var whole: ByteAccount?

  /// Creates an account, optionally as a part of another one, which counts the same bytes.
  public init(maximum: Int = .max, within whole: ByteAccount? = nil) {
    self.maximum = maximum
    self.whole = whole
  }

  deinit { whole?.add(-bytes) }

  /// Returns true if the account would exceed its maximum with `count` additional bytes.
  public func isExceeded(adding count: Int = 0) -> Bool { count > maximum - bytes }

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

  /// Makes the account a part of another account instead of the present one.
  public func move(within other: ByteAccount) {
    guard other !== whole else { return }
    whole?.add(-bytes)
    whole = other
    other.add(bytes)
  }
}
