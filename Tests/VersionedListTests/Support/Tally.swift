// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A counter for several threads.
final class Tally: Sendable {
  private let value = Atomic(0)
  var count: Int { value.load(ordering: .relaxed) }
  func add(_ number: Int = 1) { value.add(number, ordering: .relaxed) }
}
