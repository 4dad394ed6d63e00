// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The steps of a store that its test has not received yet, oldest first.
final class StepLog<Machine: StateMachine> {
  /// A step, with the state after it.
  struct Entry: CustomStringConvertible {
    let step: StoreStep<Machine>
    fileprivate(set) var state: Machine.State

    var isAction: Bool { if case .action = step { true } else { false } }

    /// True if a test receives the step in any case.
    var isKept: Bool {
      switch step {
      case .event, .refusal, .runsAlready: true
      case .action, .failed: false
      }
    }

    var description: String {
      switch step {
      case .action(let action): "the action \(action)"
      case .event(let event): "the event \(event)"
      case .refusal(let refusal): refusal.inWords
      case .failed(let error): error.message(after: "an action")
      case .runsAlready(let id): id.runsAlready
      }
    }
  }

  private(set) var entries: [Entry] = []

  /// Adds a step.
  ///
  /// - Parameter isPerformingFollowUps: True if an action has caused the step immediately. If the step is an
  ///   action too, it is part of the one before.
  func add(_ step: StoreStep<Machine>, _ state: Machine.State, isPerformingFollowUps: Bool) {
    if isPerformingFollowUps, case .action = step, let last = entries.lastIndex(where: \.isAction) {
      entries[last].state = state
    } else {
      entries.append(Entry(step: step, state: state))
    }
  }

  /// Removes an entry, and the actions before it.
  ///
  /// - Returns: The state after the last removed action; nil if there was none.
  func remove(at index: Int) -> Machine.State? {
    let state = entries[...index].last(where: \.isAction)?.state
    entries.replaceSubrange(...index, with: entries[..<index].filter(\.isKept))
    return state
  }

  /// Removes all entries that a test need not receive.
  func removeActions() { entries.removeAll { !$0.isKept } }

  func removeAll() { entries.removeAll() }
}

extension InputRefusal {
  /// The refusal as the beginning of a sentence.
  var inWords: String {
    let member = member.map { " of the member \($0)" } ?? ""
    return "the refusal \(code)\(member) (\(message))"
  }
}
