// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Sessions

@Suite("Few")
struct FewTests {
  private final class Thing {}

  @Test("is as an array, whatever is done to it")
  func model() {
    var generator = SystemRandomNumberGenerator()
    var few = Few<Thing>()
    var model: [Thing] = []
    for _ in 0..<2_000 {
      switch Int.random(in: 0..<8, using: &generator) {
      case 0...3 where model.count < 5:
        let thing = Thing()
        few.append(thing)
        model.append(thing)
      case 4 where !model.isEmpty:
        let index = model.indices.randomElement(using: &generator) ?? 0
        #expect(few.remove(at: index) === model.remove(at: index))
      case 5, 6:
        let thing = model.randomElement(using: &generator) ?? Thing()
        few.remove(thing)
        model.removeAll { $0 === thing }
      case 7 where model.count > 3:
        few.removeAll()
        model.removeAll()
      default: break
      }
      #expect(few.count == model.count && few.isEmpty == model.isEmpty)
      #expect(few.elementsEqual(model) { $0 === $1 })
    }
  }

  @Test("a copy stays as it was")
  func copies() {
    let (one, other) = (Thing(), Thing())
    var few = Few<Thing>()
    few.append(one)
    let copy = few
    few.append(other)
    few.remove(one)
    #expect(copy.count == 1 && copy.first === one)
    #expect(few.count == 1 && few.first === other)
  }

  @Test("holds what is in it, and nothing else")
  func lifetimes() {
    weak var gone: Thing?
    weak var held: Thing?
    var few = Few<Thing>()
    do {
      let (first, second) = (Thing(), Thing())
      (gone, held) = (first, second)
      few.append(first)
      few.append(second)
      few.remove(at: 0)
    }
    #expect(gone == nil && held != nil)
    few.removeAll()
    #expect(held == nil)
  }
}
