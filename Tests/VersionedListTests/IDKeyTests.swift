// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import VersionedList

@Suite("Id keys")
struct IDKeyTests {
  @Test("two different short ids never have the same key")
  func exact() {
    var ids: Set<[UInt8]> = []
    var random = SeededGenerator(seed: 7)
    for count in 0...2 {
      for number in 0..<(1 << (8 * count)) {
        ids.insert((0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
      }
    }
    for _ in 0..<100_000 {
      // Few different bytes, so that ids differ in one position, or in the number of equal bytes.
      ids.insert((0..<random.below(8)).map { _ in [0, 1, 0x30, 0x31, 0x7F][random.below(5)] })
    }
    // Only valid UTF-8 can be a string.
    let texts = ids.compactMap { String(validating: $0, as: UTF8.self) }
    let keys = texts.map { IDKey($0) }
    #expect(texts.count > 40_000)
    let areExact = keys.allSatisfy(\.isExact)
    #expect(areExact)
    #expect(Set(keys.map(\.number)).count == texts.count)
  }

  @Test("the key of a longer id is not exact", arguments: ["12345678", "ÄÖÜ1234", "a longer id"])
  func hashed(id: String) {
    #expect(!IDKey(id).isExact)
    #expect(IDKey(id) == IDKey(id))
    #expect(IDKey(id) != IDKey(id + "1"))
  }

  @Test("the keys of consecutive ids are distributed evenly", arguments: [1, 100_000, 1_000_000])
  func spread(first: Int) {
    // Each thousandth of the key range should have about a thousandth of the ids.
    var counts = Array(repeating: 0, count: 1000)
    for id in first..<first + 100_000 {
      counts[Int(IDKey("\(id)").number.multipliedFullWidth(by: 1000).high)] += 1
    }
    let (least, most) = (counts.min() ?? 0, counts.max() ?? 0)
    #expect(least >= 50 && most <= 200, "\(least) to \(most)")
  }
}
