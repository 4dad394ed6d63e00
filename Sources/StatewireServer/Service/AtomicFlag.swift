// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A flag that any thread can raise once and read later.
final class AtomicFlag: Sendable {
  private let flag = Atomic(false)

  var isRaised: Bool { flag.load(ordering: .acquiring) }

  func raise() { flag.store(true, ordering: .releasing) }
}
