// SPDX-License-Identifier: Apache-2.0

/// Computes the labels, which are 64-bit numbers that define the order of a list.
enum Labels {
  // Labels start in the middle and have distances of 2^32. Each end has room for 2^31 elements, and
  // a gap for 32 insertions at one position before the labels around it are redistributed.
  private static let middle: UInt64 = 1 << 63
  private static let step: UInt64 = 1 << 32

  /// Returns the label of an element in a list that is created with all its elements.
  static func initial(for position: Int) -> UInt64 { middle + step * UInt64(position) }

  /// Returns a label strictly between two neighbouring labels (nil: the end of the list); nil if
  /// there is none.
  static func between(_ below: UInt64?, _ above: UInt64?) -> UInt64? {
    switch (below, above) {
    case (nil, nil): middle
    case (let below?, nil): below <= .max - step ? below + step : halfway(below, .max)
    case (nil, let above?): above > step ? above - step : halfway(0, above)
    case (let below?, let above?): halfway(below, above)
    }
  }

  private static func halfway(_ low: UInt64, _ high: UInt64) -> UInt64? {
    high - low < 2 ? nil : low + (high - low) / 2
  }
}
