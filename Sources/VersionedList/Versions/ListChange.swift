// SPDX-License-Identifier: Apache-2.0

/// A change of a list; positions are those in the list before the change.
enum ListChange: Sendable {
  case insert(Int, AnyBox)
  case update(Int, from: AnyBox, to: AnyBox)
  case remove(Int, CountedTree<AnyBox>.Entry)
  /// A move from a position, where the element had the label `label`, to a position counted after
  /// the removal.
  case move(from: Int, to: Int, label: UInt64)
}

extension ListChange {
  /// Reverts the change.
  ///
  /// Labels that were redistributed since then are not restored, and a restored element has its old
  /// label. Labels may therefore not increase at that position. In that case a comparison produces
  /// more operations than necessary, but its result is correct.
  func undo(in order: inout CountedTree<AnyBox>) {
    switch self {
    case .insert(let position, _):
      order.remove(at: position)
    case .update(let position, let old, _):
      order.update(at: position) { $0.payload = old }
    case .remove(let position, let entry):
      order.insert(entry, at: position)
    case .move(let from, let to, let label):
      var entry = order.remove(at: to)
      entry.key = label
      order.insert(entry, at: from)
    }
  }

  /// The number of elements by which the change makes the list longer.
  var growth: Int {
    switch self {
    case .insert: 1
    case .remove: -1
    case .update, .move: 0
    }
  }
}
