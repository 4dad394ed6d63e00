// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// A time that passes whenever somebody looks.
final class PassingTime: Sendable {
  private let instant = Lock(ContinuousClock.now)
  private let step: Duration

  init(_ step: Duration) { self.step = step }

  func now() -> ContinuousClock.Instant {
    instant.withLock { instant in
      instant += step
      return instant
    }
  }
}
