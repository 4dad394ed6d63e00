// SPDX-License-Identifier: Apache-2.0

/// Some objects in order, of which there is one most often.
///
/// An array takes memory of its own for that one, and there are thousands of sessions.
struct Few<Element: AnyObject>: RandomAccessCollection {
  private var one: Element?
  private var others: [Element] = []

  var startIndex: Int { 0 }
  var endIndex: Int { one == nil ? 0 : others.count + 1 }

  subscript(index: Int) -> Element {
    // because no peer gives indices: they come from this collection, and a wrong one is a fault of ours,
    // as with an array.
    guard let one else { preconditionFailure("index out of bounds") }
    return index == 0 ? one : others[index - 1]
  }

  mutating func append(_ element: Element) {
    if one == nil { one = element } else { others.append(element) }
  }

  @discardableResult
  mutating func remove(at index: Int) -> Element {
    let removed = self[index]
    if index > 0 {
      others.remove(at: index - 1)
    } else {
      one = others.isEmpty ? nil : others.removeFirst()
    }
    return removed
  }

  mutating func remove(_ element: Element) {
    if let index = firstIndex(where: { $0 === element }) { remove(at: index) }
  }

  mutating func removeAll() { self = Few() }
}
