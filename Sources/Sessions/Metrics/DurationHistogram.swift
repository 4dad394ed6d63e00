// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// Counts of durations, by upper bounds that are fixed. One thread at a time adds durations, and any
/// thread reads the counts.
public final class DurationHistogram: Sendable {
  /// The upper bounds, ascending; a duration that is equal to a bound is below it.
  public let bounds: [Duration]
  /// Number of durations up to each bound and above the one before; the last one is above all bounds.
  private let counts: [MetricValue]
  private let total = MetricValue()

  /// Creates a histogram without durations.
  init(_ bounds: [Duration]) {
    self.bounds = bounds
    counts = (bounds + [.zero]).map { _ in MetricValue() }
  }

  /// The counts at one time.
  public struct Reading: Sendable {
    /// The upper bounds, ascending.
    public var bounds: [Duration]
    /// Number of durations up to each bound and above the one before; the last one is above all
    /// bounds.
    public var counts: [Int]
    /// The sum of all durations.
    public var sum: Duration

    /// Creates a reading.
    ///
    /// - Parameters:
    ///   - bounds: The upper bounds, ascending.
    ///   - counts: The numbers of durations: one for each bound, and one for all above.
    ///   - sum: The sum of all durations.
    public init(bounds: [Duration], counts: [Int], sum: Duration) {
      (self.bounds, self.counts, self.sum) = (bounds, counts, sum)
    }
  }

  /// The current counts. While durations are added, the sum may lack the last ones.
  public var reading: Reading {
    Reading(
      bounds: bounds, counts: counts.map(\.value),
      sum: Duration(attoseconds: Int128(total.value) << Self.shift))
  }

  /// Adds a duration.
  func add(_ duration: Duration) {
    total.add(Int(truncatingIfNeeded: duration.attoseconds >> Self.shift))
    var place = 0
    while place < bounds.count, duration > bounds[place] { place += 1 }
    counts[place].add()
  }

  // The sum counts 2^30 attoseconds, about one nanosecond: a shift, where nanoseconds would need a
  // division of 128 bits.
  private static let shift = 30
}

extension DurationHistogram.Reading {
  /// Number of all durations.
  public var count: Int { counts.reduce(0, +) }

  /// The number of durations up to each bound; the bound is a text in seconds, the last one `+Inf`.
  public var cumulative: [(bound: String, count: Int)] {
    var total = 0
    return zip(bounds.map { "\($0 / .seconds(1))" } + ["+Inf"], counts).map { bound, count in
      total += count
      return (bound, total)
    }
  }
}
