// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Sessions

@Suite("SmallCollection")
struct SmallCollectionTests {
  private final class Thing {}

  @Test(
    "after random operations, SmallCollection has the same elements as an array",
    arguments: 0..<8 as Range<UInt64>)
  func model(seed: UInt64) {
    var generator = FixedNumbers(seed: seed)
    var collection = SmallCollection<Thing>()
    var model: [Thing] = []
    for _ in 0..<2_000 {
      switch Int.random(in: 0..<8, using: &generator) {
      case 0...3 where model.count < 5:
        let thing = Thing()
        collection.append(thing)
        model.append(thing)
      case 4 where !model.isEmpty:
        let index = model.indices.randomElement(using: &generator) ?? 0
        #expect(collection.remove(at: index) === model.remove(at: index))
      case 5, 6:
        let thing = model.randomElement(using: &generator) ?? Thing()
        collection.remove(thing)
        model.removeAll { $0 === thing }
      case 7 where model.count > 3:
        collection.removeAll()
        model.removeAll()
      default: break
      }
      #expect(collection.count == model.count && collection.isEmpty == model.isEmpty)
      #expect(collection.elementsEqual(model) { $0 === $1 })
      var each: [Thing] = []
      collection.visit { each.append($0) }
      #expect(each.elementsEqual(model) { $0 === $1 })
      for thing in model + [Thing()] {
        #expect(collection.first { $0 === thing } === model.first { $0 === thing })
        #expect(collection.contains { $0 === thing } == model.contains { $0 === thing })
      }
    }
  }

  private final class Named: Sessions.Named {
    let name: String
    init(_ name: String) { self.name = name }
  }

  @Test("an element replaces the one with the same name, in its place", arguments: 1...3)
  func names(count: Int) {
    var collection = SmallCollection<Named>()
    let names = ["a", "e\u{301}", "\u{e9}"].prefix(count)
    for name in names { collection.set(Named(name)) }
    for name in names {
      let other = Named(name)
      collection.set(other)
      #expect(collection[name] === other)
    }
    #expect(collection.map(\.name).elementsEqual(names) { $0.utf8.elementsEqual($1.utf8) })
    #expect(collection["b"] == nil)
  }

  @Test("a copy does not change when the original changes", arguments: 0...4)
  func copies(count: Int) {
    let things = (0..<count).map { _ in Thing() }
    var collection = SmallCollection<Thing>()
    for thing in things { collection.append(thing) }
    let copy = collection
    collection.append(Thing())
    collection.remove(at: 0)
    collection.append(Thing())
    #expect(copy.elementsEqual(things) { $0 === $1 })
    #expect(collection.count == count + 1)
  }

  @Test("a loop visits the elements that were present when it began", arguments: 1...3)
  func changes(count: Int) {
    final class Holder { var collection = SmallCollection<Thing>() }
    let holder = Holder()
    for _ in 0..<count { holder.collection.append(Thing()) }
    let things = Array(holder.collection)
    var seen: [Thing] = []
    holder.collection.visit { thing in
      seen.append(thing)
      holder.collection.remove(thing)
      holder.collection.append(Thing())
    }
    #expect(seen.elementsEqual(things) { $0 === $1 })
    #expect(holder.collection.count == count)
  }

  @Test("SmallCollection retains its elements, and no others")
  func lifetimes() {
    weak var gone: Thing?
    weak var held: Thing?
    var collection = SmallCollection<Thing>()
    do {
      let (first, second) = (Thing(), Thing())
      (gone, held) = (first, second)
      collection.append(first)
      collection.append(second)
      collection.remove(at: 0)
    }
    #expect(gone == nil && held != nil)
    collection.removeAll()
    #expect(held == nil)
  }
}
