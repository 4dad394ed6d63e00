// SPDX-License-Identifier: Apache-2.0

/// Some objects in order, of which there is one most often.
///
/// An array takes memory of its own for that one, and there are thousands of sessions. And going through
/// one is going through it: nothing but the object itself is counted.
enum Few<Element: AnyObject>: RandomAccessCollection {
  case none
  case one(Element)
  /// Two or more.
  case several([Element])

  init() { self = .none }

  var startIndex: Int { 0 }
  var endIndex: Int {
    switch self {
    case .none: 0
    case .one: 1
    case .several(let all): all.count
    }
  }

  subscript(index: Int) -> Element {
    // Each of the three sees to it that there is such an index.
    switch self {
    case .none: EmptyCollection()[index]
    case .one(let one): CollectionOfOne(one)[index]
    case .several(let all): all[index]
    }
  }

  /// Calls `body` with each, as they are now.
  func visit(_ body: (Element) -> Void) {
    switch self {
    case .none: break
    case .one(let one): body(one)
    case .several(let all): for element in all { body(element) }
    }
  }

  /// The first one that `predicate` holds for.
  func first(where predicate: (Element) -> Bool) -> Element? {
    switch self {
    case .none: nil
    case .one(let one): predicate(one) ? one : nil
    case .several(let all): all.first(where: predicate)
    }
  }

  /// Whether `predicate` holds for one of them.
  func contains(where predicate: (Element) -> Bool) -> Bool {
    switch self {
    case .none: false
    case .one(let one): predicate(one)
    case .several(let all): all.contains(where: predicate)
    }
  }

  mutating func append(_ element: Element) {
    switch self {
    case .none: self = .one(element)
    case .one(let one): self = .several([one, element])
    case .several(var all):
      // Out of here first, so that there is one reference to it, and it is not copied.
      self = .none
      all.append(element)
      self = .several(all)
    }
  }

  @discardableResult
  mutating func remove(at index: Int) -> Element {
    let removed = self[index]
    switch self {
    case .none, .one: self = .none
    case .several(var all):
      self = .none
      all.remove(at: index)
      self = all.count == 1 ? .one(all[0]) : .several(all)
    }
    return removed
  }

  mutating func remove(_ element: Element) {
    if let index = firstIndex(where: { $0 === element }) { remove(at: index) }
  }

  mutating func removeAll() { self = .none }
}
