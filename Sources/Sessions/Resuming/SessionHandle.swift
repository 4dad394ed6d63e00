// SPDX-License-Identifier: Apache-2.0

/// The handle with which clients attach to a session: 128 random bits, written as 32 lowercase
/// hexadecimal digits.
public struct SessionHandle: Hashable, Sendable, CustomStringConvertible {
  private let high: UInt64
  let low: UInt64

  /// Creates a handle from random bits.
  ///
  /// - Parameter generator: The source of the bits. Except in tests it must be cryptographically
  ///   secure, because a handle is a secret.
  public init(using generator: inout some RandomNumberGenerator) {
    high = generator.next()
    low = generator.next()
  }

  /// Parses a handle; nil if the text is not 32 lowercase hexadecimal digits.
  public init?(_ text: String) {
    var digits: [UInt64] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digits.append(UInt64(byte - UInt8(ascii: "0")))
      case UInt8(ascii: "a")...UInt8(ascii: "f"):
        digits.append(UInt64(byte - UInt8(ascii: "a") + 10))
      default: return nil
      }
      if digits.count > 32 { return nil }
    }
    guard digits.count == 32 else { return nil }
    high = digits[..<16].reduce(0) { $0 << 4 | $1 }
    low = digits[16...].reduce(0) { $0 << 4 | $1 }
  }

  /// Creates a handle from its bits.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The bits of the handle.
  package var bits: (high: UInt64, low: UInt64) { (high, low) }

  /// The 32 lowercase hexadecimal digits.
  public var description: String { high.hexadecimal + low.hexadecimal }

  /// The first eight digits, for logs: the whole handle is a secret.
  public var abbreviated: String { String(description.prefix(8)) }
}

extension UInt64 {
  /// The 16 lowercase hexadecimal digits, with leading zeros.
  package var hexadecimal: String {
    let text = String(self, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}
