// SPDX-License-Identifier: Apache-2.0

/// The numbers that keep the order of a list.
enum Labels {
  // Counted both ways from the middle, 2^32 apart: two thousand million elements at either end
  // before the numbers run out, 32 insertions at one place before a neighbourhood is spread anew.
  private static let middle: UInt64 = 1 << 63
  private static let step: UInt64 = 1 << 32

  /// The label of an element in a list that is made all at once.
  static func initial(for position: Int) -> UInt64 { middle + step * UInt64(position) }

  /// A label strictly between two neighbours (nil: the end of the list), nil if there is no room.
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
