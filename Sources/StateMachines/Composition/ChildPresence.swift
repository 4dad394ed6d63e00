// SPDX-License-Identifier: Apache-2.0

internal import VersionedList

/// The children of a machine that are present in its state, kept to find out which appear and which
/// vanish.
final class ChildPresence<Machine: StateMachine> {
  /// A change after an action.
  struct Change {
    /// The initial effect of the children that have appeared.
    var effect: Effect<Machine.Action>
    /// True if children may have vanished.
    var mayHaveVanished: Bool
  }

  /// The children that are present.
  struct Present {
    fileprivate var counts: [Int]
    fileprivate var keys: [Set<ByteString>]
  }

  /// Set to an earlier value if the state is taken back.
  var present: Present

  /// Creates the record of the children that are present in a state.
  init(_ children: [ChildNode<Machine>], in state: Machine.State) {
    present = Present(
      counts: children.map { $0.count(state) },
      keys: children.map { child in
        var keys: Set<ByteString> = []
        if child.canBeAbsent, child.beginsWithEffect {
          _ = child.effectOfNewChildren(state, &keys)
        }
        return keys
      })
  }

  /// Records the children that are present after an action.
  ///
  /// After an action of a child only a changed number of children is detected. So an action of one
  /// of a thousand children does not compare all of them.
  ///
  /// - Returns: The change; nil if there can be none.
  func update(
    _ children: [ChildNode<Machine>], in state: Machine.State, isOfChild: Bool
  ) -> Change? {
    var change = Change(effect: .none, mayHaveVanished: !isOfChild)
    var effects: [Effect<Machine.Action>] = []
    for (index, child) in children.enumerated() where child.canBeAbsent {
      let count = child.count(state)
      if count != present.counts[index] {
        change.mayHaveVanished = true
        present.counts[index] = count
      }
    }
    guard change.mayHaveVanished else { return nil }
    for (index, child) in children.enumerated() where child.canBeAbsent && child.beginsWithEffect {
      let effect = child.effectOfNewChildren(state, &present.keys[index])
      if case .none = effect.step { continue }
      effects.append(effect)
    }
    if !effects.isEmpty { change.effect = .several(effects) }
    return change
  }
}
