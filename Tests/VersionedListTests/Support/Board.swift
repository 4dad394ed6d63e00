// SPDX-License-Identifier: Apache-2.0

import TestSupport
import VersionedList

/// A state with lists in all places that are common in stores.
struct Board: Codable, Equatable, Sendable {
  /// The part of the state that is shown.
  enum Shown: Codable, Equatable, Sendable {
    case loading
    case content(list: KeyedList<Item>, note: String)
  }

  var title = "A board with a title of some length"
  var list: KeyedList<Item> = []
  var shown = Shown.loading
  var second: KeyedList<Item>?
}

extension Board {
  /// Changes something, in ways that are common in stores.
  mutating func change(_ step: Int, _ random: inout SeededGenerator) {
    switch random.below(12) {
    case 0:
      title = ["caf\u{e9}", "cafe\u{301}", "\(step)"][random.below(3)]
    case 1:
      shown = .loading
    case 2:
      shown = .content(list: list, note: "\(step)")
    case 3:
      second = random.below(2) == 0 ? nil : list
    case 4:
      guard let other = second else { return }
      (list, second) = (other, list)
    case 5:
      // Loads the list again: equal or with a few differences.
      var items = Array(list)
      if random.below(2) == 0, !items.isEmpty { items.remove(at: random.below(items.count)) }
      if random.below(3) == 0 { items.shuffle(using: &random) }
      list = KeyedList(items)
    case 6:
      // Takes the list out of its case, changes it and puts it back.
      guard case .content(var inside, let note) = shown else { return }
      inside.changeOnce(step, &random)
      shown = .content(list: inside, note: note)
    case 7:
      // Makes more changes than the change log keeps.
      for _ in 0..<(random.below(6) == 0 ? 200 : 20) { list.changeOnce(step, &random) }
    default:
      list.changeOnce(step, &random)
    }
  }
}

extension KeyedList<Item> {
  mutating func changeOnce(_ step: Int, _ random: inout SeededGenerator) {
    let change = ListModel.Change.random(in: self, &random)
    if case .rename(let id) = change, random.below(6) == 0 {
      update(id: id) { $0.weight = [.nan, 1, nil][random.below(3)] }
    } else {
      apply(change, step)
    }
  }
}
