// SPDX-License-Identifier: Apache-2.0

/// How many bytes are held for somebody, within those that are held for all.
///
/// It counts and refuses nothing itself: what is there already cannot be refused, and who adds to it asks before.
public final class ByteAccount {
  public let maximum: Int
  public private(set) var bytes = 0
  private var whole: ByteAccount?

  public init(maximum: Int = .max, within whole: ByteAccount? = nil) {
    self.maximum = maximum
    self.whole = whole
  }

  deinit { whole?.add(-bytes) }

  /// Whether it would have more bytes than it may with so many more.
  public func isExceeded(adding count: Int = 0) -> Bool { count > maximum - bytes }

  /// Whether it, or what it is a part of, would have more bytes than it may with so many more.
  public func isFull(adding count: Int = 0) -> Bool {
    isExceeded(adding: count) || whole?.isFull(adding: count) ?? false
  }

  /// Takes note of how many bytes there are now.
  public func set(_ count: Int) { if count != bytes { add(count - bytes) } }

  /// Takes note of more bytes, or of fewer.
  public func add(_ count: Int) {
    bytes += count
    whole?.add(count)
  }

  /// Becomes a part of another account.
  public func move(within other: ByteAccount) {
    guard other !== whole else { return }
    whole?.add(-bytes)
    whole = other
    other.add(bytes)
  }
}
