// SPDX-License-Identifier: Apache-2.0

/// The counts of the effects of all stores of a host, which runs its stores on one thread.
public final class EffectCounts: Sendable {
  /// Number of effects that run or wait for their start, including feeds.
  public let running = MetricValue()
  /// Number of effects that have begun.
  public let begun = MetricValue()
  /// Number of effects that have given the action that stands for their failure.
  public let failed = MetricValue()

  /// Creates counts that are 0.
  public init() {}

  func began() {
    running.add()
    begun.add()
  }

  func ended(_ count: Int) { running.add(-count) }
}
