// SPDX-License-Identifier: Apache-2.0

import TestSupport
import VersionedList

/// A model of a keyed list: an array that is searched linearly.
struct ListModel {
  enum Change {
    case append(String)
    case insert(String, at: Int)
    case insertBefore(String, String?)
    case rename(String)
    case remove(String)
    case move(String, before: String?)
  }

  private(set) var items: [Item]

  init(_ items: [Item]) { self.items = items }

  func position(of id: String) -> Int? {
    items.firstIndex { $0.id.utf8.elementsEqual(id.utf8) }
  }

  mutating func apply(_ change: Change, _ step: Int) {
    switch change {
    case .append(let id): put(id, items.count, step)
    case .insert(let id, let position): put(id, position, step)
    case .insertBefore(let id, let other):
      put(id, other.flatMap(position(of:)) ?? items.count, step)
    case .rename(let id):
      if let position = position(of: id) { items[position].title = "\(step)" }
    case .remove(let id):
      if let position = position(of: id) { items.remove(at: position) }
    case .move(let id, let other):
      guard let from = position(of: id) else { return }
      guard let other else { return items.append(items.remove(at: from)) }
      guard let to = position(of: other) else { return }
      let item = items.remove(at: from)
      items.insert(item, at: to > from ? to - 1 : to)
    }
  }

  private mutating func put(_ id: String, _ position: Int, _ step: Int) {
    let item = Item(id, "\(step)")
    if let present = self.position(of: id) {
      items[present] = item
    } else {
      items.insert(item, at: position)
    }
  }
}

extension ListModel.Change {
  /// Returns a random change, which mostly concerns an existing element.
  static func random(in list: KeyedList<Item>, _ random: inout SeededGenerator) -> Self {
    func id(_ random: inout SeededGenerator) -> String {
      switch random.below(10) {
      case 0: KeyedListTests.twins[random.below(KeyedListTests.twins.count)]
      case 1: "new \(random.below(60))"
      case 2: "longer than any number \(random.below(60))"
      default: list.isEmpty ? "unknown" : list[random.below(list.count)].id
      }
    }
    return switch random.below(8) {
    case 0: .append(id(&random))
    case 1: .insert(id(&random), at: random.below(list.count + 1))
    case 2: .insertBefore(id(&random), random.below(4) == 0 ? nil : id(&random))
    case 3, 4: .rename(id(&random))
    case 5: .remove(id(&random))
    default: .move(id(&random), before: random.below(4) == 0 ? nil : id(&random))
    }
  }
}

extension KeyedList<Item> {
  mutating func apply(_ change: ListModel.Change, _ step: Int) {
    switch change {
    case .append(let id): append(Item(id, "\(step)"))
    case .insert(let id, let position): insert(Item(id, "\(step)"), at: position)
    case .insertBefore(let id, let other): insert(Item(id, "\(step)"), before: other)
    case .rename(let id): update(id: id) { $0.title = "\(step)" }
    case .remove(let id): remove(id: id)
    case .move(let id, let other): move(id: id, before: other)
    }
  }
}
