// SPDX-License-Identifier: Apache-2.0

/// One change of a list, by positions in the list as it was just before the change.
enum ListChange: Sendable {
  case insert(Int, AnyBox)
  case update(Int, from: AnyBox, to: AnyBox)
  case remove(Int, CountedTree<AnyBox>.Entry)
  /// From a position, where its label was another one, to a position counted after the removal.
  case move(from: Int, to: Int, label: UInt64)
}

extension ListChange {
  /// Takes the change back.
  ///
  /// Labels that were spread anew since then stay as they are, and what comes back has its old one. So
  /// labels may not rise where it stands, which costs a comparison operations and no truth.
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

  /// By how many elements it makes the list longer.
  var growth: Int {
    switch self {
    case .insert: 1
    case .remove: -1
    case .update, .move: 0
    }
  }
}
