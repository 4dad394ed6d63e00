// SPDX-License-Identifier: Apache-2.0

/// The name by which a session is found again: 128 random bits, 32 hexadecimal digits on the wire.
public struct SessionHandle: Hashable, Sendable, CustomStringConvertible {
  private let high: UInt64
  private let low: UInt64

  /// A handle that nobody can guess.
  /// - Parameter generator: Where its bits come from.
  public init(using generator: inout some RandomNumberGenerator) {
    high = generator.next()
    low = generator.next()
  }

  /// The handle of a text; nil if there can be none.
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

  public var description: String { high.hexadecimal + low.hexadecimal }
}

extension UInt64 {
  /// All of its 16 hexadecimal digits.
  package var hexadecimal: String {
    let text = String(self, radix: 16)
    return String(repeating: "0", count: 16 - text.count) + text
  }
}
