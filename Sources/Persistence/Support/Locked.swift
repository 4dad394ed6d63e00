// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A value that one thread at a time may touch.
///
/// `Synchronization.Mutex` would do, but the thread sanitizer reports false races of it on Linux.
final class Locked<Value: Sendable>: @unchecked Sendable {
  // because `lock` guards `value`, which is reached through `withLock` alone.
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) {
    self.value = value
  }

  /// Calls `body` with the value while nobody else has it; `body` must not wait for anything.
  func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
