// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A value for which one thread waits.
package final class AwaitedValue<Value: Sendable>: @unchecked Sendable {
  // @unchecked because `value` is used only while `condition` is locked.
  private let condition = NSCondition()
  private var value: Value?

  package init() {}

  /// Sets the value and wakes the thread.
  @Sendable
  package func signal(_ value: Value) {
    condition.withLock { self.value = value }
    condition.signal()
  }

  /// Returns the value; blocks until it is set.
  package func wait() -> Value {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let value { return value }
      condition.wait()
    }
  }
}
