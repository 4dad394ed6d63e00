// SPDX-License-Identifier: Apache-2.0

/// A generator of random numbers that are the same in each run with the same seed (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator, CustomStringConvertible, Sendable {
  /// The seed. A failing test prints it, so that the test can be repeated with the same numbers.
  public let seed: UInt64
  private var state: UInt64

  public init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  public var description: String { "seed \(seed)" }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  /// Returns a number in `0..<bound`.
  public mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}
