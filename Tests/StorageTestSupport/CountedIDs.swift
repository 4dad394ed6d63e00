// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// A generator of the ids "1", "2" and so on, for any thread.
public final class CountedIDs: Sendable {
  private let last = Lock(0)

  public init() {}

  /// The next id.
  public var next: String { String(last.withLock { $0 } + 1) }

  @Sendable
  public func make() -> String {
    String(
      last.withLock { last in
        last += 1
        return last
      })
  }
}
