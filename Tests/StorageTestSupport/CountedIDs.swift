// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// Ids "1", "2" and so on, from any thread.
public final class CountedIDs: Sendable {
  private let last = Lock(0)

  public init() {}

  /// The id that comes next.
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
