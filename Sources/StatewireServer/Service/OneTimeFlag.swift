// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Something that happens once, or not, and is asked for later; on any threads.
final class OneTimeFlag: Sendable {
  private let flag = Atomic(false)

  var isRaised: Bool { flag.load(ordering: .acquiring) }

  func raise() { flag.store(true, ordering: .releasing) }
}
