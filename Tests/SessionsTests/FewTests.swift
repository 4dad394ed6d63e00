// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Sessions

@Suite("SmallCollection")
struct FewTests {
  private final class Thing {}

  @Test(
    "after random operations, SmallCollection has the same elements as an array",
    arguments: 0..<8 as Range<UInt64>)
  func model(seed: UInt64) {
    var generator = FixedNumbers(seed: seed)
    var few = SmallCollection<Thing>()
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
      var each: [Thing] = []
      few.visit { each.append($0) }
      #expect(each.elementsEqual(model) { $0 === $1 })
      for thing in model + [Thing()] {
        #expect(few.first { $0 === thing } === model.first { $0 === thing })
        #expect(few.contains { $0 === thing } == model.contains { $0 === thing })
      }
    }
  }

  private final class Named: Sessions.Named {
    let name: String
    init(_ name: String) { self.name = name }
  }

  @Test("an element replaces the one with the same name, in its place", arguments: 1...3)
  func names(count: Int) {
    var few = SmallCollection<Named>()
    let names = ["a", "e\u{301}", "\u{e9}"].prefix(count)
    for name in names { few.set(Named(name)) }
    for name in names {
      let other = Named(name)
      few.set(other)
      #expect(few[name] === other)
    }
    #expect(few.map(\.name).elementsEqual(names) { $0.utf8.elementsEqual($1.utf8) })
    #expect(few["b"] == nil)
  }

  @Test("a copy does not change when the original changes", arguments: 0...4)
  func copies(count: Int) {
    let things = (0..<count).map { _ in Thing() }
    var few = SmallCollection<Thing>()
    for thing in things { few.append(thing) }
    let copy = few
    few.append(Thing())
    few.remove(at: 0)
    few.append(Thing())
    #expect(copy.elementsEqual(things) { $0 === $1 })
    #expect(few.count == count + 1)
  }

  @Test("a loop visits the elements that were present when it began", arguments: 1...3)
  func changes(count: Int) {
    final class Holder { var few = SmallCollection<Thing>() }
    let holder = Holder()
    for _ in 0..<count { holder.few.append(Thing()) }
    let things = Array(holder.few)
    var seen: [Thing] = []
    holder.few.visit { thing in
      seen.append(thing)
      holder.few.remove(thing)
      holder.few.append(Thing())
    }
    #expect(seen.elementsEqual(things) { $0 === $1 })
    #expect(holder.few.count == count)
  }

  @Test("SmallCollection retains its elements, and no others")
  func lifetimes() {
    weak var gone: Thing?
    weak var held: Thing?
    var few = SmallCollection<Thing>()
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
