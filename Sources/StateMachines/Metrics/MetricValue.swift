// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A number that one thread changes and any thread can read.
///
/// A change is a plain load and a plain store of the processor, without a lock and without an atomic
/// addition. So a thread counts what it does at the cost of two instructions, and a reader never
/// waits for that thread. Two threads must not change the same number.
public final class MetricValue: Sendable {
  private let number = Atomic(0)

  /// Creates a number that is 0.
  public init() {}

  /// The current number.
  public var value: Int { number.load(ordering: .relaxed) }

  /// Adds an amount, which may be negative.
  public func add(_ amount: Int = 1) {
    number.store(number.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }
}
