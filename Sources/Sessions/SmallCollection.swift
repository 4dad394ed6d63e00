// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A collection of objects, usually of one.
///
/// An array would allocate memory for that one object, and there are thousands of sessions. An
/// iteration retains only the element and no buffer.
enum SmallCollection<Element: AnyObject>: RandomAccessCollection {
  /// No element.
  case none
  /// One element.
  case one(Element)
  /// Two or more elements.
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
    // Each of the three collections traps if the index is out of bounds.
    switch self {
    case .none: EmptyCollection()[index]
    case .one(let one): CollectionOfOne(one)[index]
    case .several(let all): all[index]
    }
  }

  /// Calls `body` with each current element.
  func visit(_ body: (Element) -> Void) {
    switch self {
    case .none: break
    case .one(let one): body(one)
    case .several(let all): for element in all { body(element) }
    }
  }

  /// Returns the first element that satisfies `predicate`.
  func first(where predicate: (Element) -> Bool) -> Element? {
    switch self {
    case .none: nil
    case .one(let one): predicate(one) ? one : nil
    case .several(let all): all.first(where: predicate)
    }
  }

  /// Returns true if an element satisfies `predicate`.
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
      // Cleared first, so that the array has one reference and is not copied.
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

/// An object with a name.
protocol Named: AnyObject {
  var name: String { get }
}

/// The elements as a dictionary: at most one has a name. Names are compared by their bytes.
///
/// A search is not slower than a dictionary for up to dozens of names.
extension SmallCollection where Element: Named {
  /// The element with a name; nil if there is none.
  ///
  /// - Complexity: O(n).
  subscript(name: String) -> Element? { first { $0.name.hasSameBytes(as: name) } }

  /// Adds an element in place of the one with the same name, or at the end.
  mutating func set(_ element: Element) {
    guard let index = firstIndex(where: { $0.name.hasSameBytes(as: element.name) }) else {
      return append(element)
    }
    switch self {
    case .none, .one: self = .one(element)
    case .several(var all):
      self = .none
      all[index] = element
      self = .several(all)
    }
  }
}
