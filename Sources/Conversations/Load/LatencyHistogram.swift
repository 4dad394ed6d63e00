// SPDX-License-Identifier: Apache-2.0

/// A histogram of durations with a relative error of at most 1 %, in bounded memory.
///
/// Durations are counted in nanoseconds. Each power of two is divided into 128 equal buckets; those
/// below 256 ns are exact.
///
/// - Bound: 7,424 counters, for durations of any length.
struct LatencyHistogram: Sendable, Equatable {
  private static let bits = 7

  private var counts = [Int](repeating: 0, count: (64 - bits + 1) << bits)
  /// The number of durations.
  private(set) var count = 0
  /// The longest duration.
  private(set) var maximum = Duration.zero

  /// Adds a duration; a negative one counts as zero.
  mutating func add(_ duration: Duration) {
    let parts = max(duration, .zero).components
    let nanoseconds =
      parts.seconds > Int64.max / 2_000_000_000
      ? Int64.max : parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000
    counts[Self.bucket(UInt64(nanoseconds))] += 1
    count += 1
    maximum = max(maximum, duration)
  }

  /// Returns the shortest duration that is not exceeded by this share of all; zero without any.
  ///
  /// - Parameter share: From 0 to 1; 0.5 is the median.
  func percentile(_ share: Double) -> Duration {
    guard count > 0 else { return .zero }
    let rank = max(1, Int((share * Double(count)).rounded(.up)))
    var seen = 0
    for (index, count) in counts.enumerated() {
      seen += count
      if seen >= rank { return min(.nanoseconds(Self.upperBound(index)), maximum) }
    }
    return maximum
  }

  private static func bucket(_ value: UInt64) -> Int {
    let shift = max(0, 64 - value.leadingZeroBitCount - bits - 1)
    return shift << bits + Int(value >> UInt64(shift))
  }

  private static func upperBound(_ bucket: Int) -> Int64 {
    let shift = max(0, bucket >> bits - 1)
    let mantissa = UInt64(bucket - shift << bits)
    let (end, overflow) = (mantissa + 1).multipliedReportingOverflow(by: 1 << UInt64(shift))
    return overflow || end > UInt64(Int64.max) ? .max : Int64(end - 1)
  }
}
