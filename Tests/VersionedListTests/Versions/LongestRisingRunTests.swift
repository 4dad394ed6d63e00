// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import VersionedList

@Suite("Longest rising run")
struct LongestRisingRunTests {
  @Test(
    "the run leaves out elements that are out of order",
    arguments: [
      ([], []), ([nil], []), ([4], [0]), ([1, 2, 3], [0, 1, 2]), ([3, 2, 1], [2]),
      ([5, 1, nil, 2, 4, 3], [1, 3, 5]), ([1, 0, nil, nil, 7], [1, 4]),
    ] as [([Int?], [Int])])
  func table(values: [Int?], expected: [Int]) {
    #expect(longestRisingRun(values) == expected)
  }

  @Test("the run is the longest possible one, for random values")
  func random() {
    for seed in UInt64(1)...200 {
      var random = SeededGenerator(seed: seed)
      let values: [Int?] = (0..<random.below(9)).map { _ in
        random.below(4) == 0 ? nil : random.below(9)
      }
      let run = longestRisingRun(values)
      #expect(isRising(run.map { values[$0] }) && isRising(run), "\(random)")
      let longest = (0..<1 << values.count).map { subset in
        let chosen = values.indices.filter { subset >> $0 & 1 == 1 }.map { values[$0] }
        return isRising(chosen) ? chosen.count : 0
      }.max()
      #expect(run.count == longest, "\(random)")
    }
  }

  private func isRising(_ values: [Int?]) -> Bool {
    !values.contains(nil) && zip(values, values.dropFirst()).allSatisfy { $0! < $1! }
  }
}
