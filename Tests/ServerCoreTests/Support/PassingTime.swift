// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// A time that passes whenever somebody looks.
final class PassingTime: Sendable {
  private let instant = Lock(ContinuousClock.now)
  private let count = Lock(0)
  private let step: Duration

  init(_ step: Duration) { self.step = step }

  /// Lets some time pass, as if something had taken so long.
  func pass(_ time: Duration) { instant.withLock { $0 += time } }

  /// How often the time was asked for.
  var looks: Int { count.withLock { $0 } }

  func now() -> ContinuousClock.Instant {
    count.withLock { $0 += 1 }
    return instant.withLock { instant in
      instant += step
      return instant
    }
  }
}
