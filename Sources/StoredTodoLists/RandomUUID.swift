// SPDX-License-Identifier: Apache-2.0

/// Random UUIDs as text, for example the ids of todos in a database.
public enum RandomUUID {
  /// Returns a random UUID in lower case.
  @Sendable
  public static func text() -> String {
    // Foundation's UUID reads a file, and always returns the same value if no descriptor is left.
    var numbers = SystemRandomNumberGenerator()
    return text(of: &numbers)
  }

  /// Returns a UUID of version 4 in lower case.
  ///
  /// - Parameter numbers: The source of its random bits.
  /// - Source: RFC 9562 §5.4.
  public static func text(of numbers: inout some RandomNumberGenerator) -> String {
    let (high, low) = (numbers.next(), numbers.next())
    let halves = [high & ~0xF000 | 0x4000, low & ~(3 << 62) | 2 << 62]
    let digits = halves.flatMap { half in
      let text = String(half, radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }
    let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
    return groups.joined(separator: "-")
  }
}
