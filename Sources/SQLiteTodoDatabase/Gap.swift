// SPDX-License-Identifier: Apache-2.0

/// The arithmetic of positions: numbers strictly between `Int64.min` and `Int64.max`.
enum Gap {
  /// The distance between a new todo at either end and its neighbour. It allows 32 insertions at
  /// one place, and two thousand million todos before the numbers are exhausted.
  private static let step: Int64 = 1 << 32

  /// Returns a number strictly between two neighbours; nil if there is none.
  ///
  /// A neighbour is nil at the end of the list.
  static func between(_ below: Int64?, _ above: Int64?) -> Int64? {
    switch (below, above) {
    case (nil, nil): 0
    case (let below?, nil): below < .max - step ? below + step : halfway(below, .max)
    case (nil, let above?): above > .min + step ? above - step : halfway(.min, above)
    case (let below?, let above?): halfway(below, above)
    }
  }

  /// Returns numbers at equal distances strictly between two neighbours.
  ///
  /// - Returns: The numbers in increasing order, and their distance; 0 if there are not enough
  ///   numbers.
  static func spread(
    _ count: Int, between low: Int64?, _ high: Int64?
  ) -> (positions: [Int64], step: UInt64) {
    let (low, high) = bounds(low, high, for: count)
    let distance = distance(low, high) / UInt64(count + 1)
    let positions = (1...count).map { low &+ Int64(bitPattern: distance * UInt64($0)) }
    return (positions, distance)
  }

  /// Returns the neighbours. An end of the list is replaced by a number at `step` per todo from the
  /// other neighbour.
  private static func bounds(_ low: Int64?, _ high: Int64?, for count: Int) -> (Int64, Int64) {
    let width = Int64(clamping: (count + 1).multipliedReportingOverflow(by: Int(step)).partialValue)
    switch (low, high) {
    case (nil, nil): return (-(width / 2), width / 2)
    case (let low?, nil):
      let (high, overflow) = low.addingReportingOverflow(width)
      return (low, overflow ? .max : high)
    case (nil, let high?):
      let (low, overflow) = high.subtractingReportingOverflow(width)
      return (overflow ? .min : low, high)
    case (let low?, let high?): return (low, high)
    }
  }

  private static func halfway(_ low: Int64, _ high: Int64) -> Int64? {
    let distance = distance(low, high)
    return distance < 2 ? nil : low &+ Int64(bitPattern: distance / 2)
  }

  /// - Precondition: `low <= high`.
  private static func distance(_ low: Int64, _ high: Int64) -> UInt64 {
    UInt64(bitPattern: high &- low)
  }
}
