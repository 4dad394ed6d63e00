// SPDX-License-Identifier: Apache-2.0

/// Arithmetic with whole numbers as arrays of digits 0 to 9, highest first; leading zeros are
/// allowed.
enum Digits {
  static func sum(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
    var sum: [UInt8] = []
    var carry: UInt8 = 0
    for place in 0..<max(one.count, other.count) {
      let digit = one.digit(at: place) + other.digit(at: place) + carry
      sum.append(digit % 10)
      carry = digit / 10
    }
    sum.append(carry)
    return sum.reversed()
  }

  /// Returns the difference.
  ///
  /// - Precondition: `one` is not less than `other`.
  static func difference(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
    var difference: [UInt8] = []
    var borrow: UInt8 = 0
    for place in 0..<max(one.count, other.count) {
      let digit = 10 + one.digit(at: place) - other.digit(at: place) - borrow
      difference.append(digit % 10)
      borrow = 1 - digit / 10
    }
    return difference.reversed()
  }

  static func isLess(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    let (one, other) = (one.drop { $0 == 0 }, other.drop { $0 == 0 })
    return one.count == other.count ? one.lexicographicallyPrecedes(other) : one.count < other.count
  }
}

extension [UInt8] {
  /// Returns the digit at a place counted from the lowest digit; 0 beyond the highest digit.
  fileprivate func digit(at place: Int) -> UInt8 { place < count ? self[count - 1 - place] : 0 }
}
