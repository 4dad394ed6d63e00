// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

/// A form of two entries that have to match: validated after each change, submitted once both rules
/// hold.
///
/// - Order: the event of a submission comes after the frames of the changes before it.
public struct FormStore: StateMachine {
  public typealias Input = FormInput
  public typealias State = FormViewState
  public typealias Event = FormEvent

  public enum Action: Equatable, Sendable {
    case setFirstEntry(FormEntry)
    case setSecondEntry(FormEntry)
    case setEntries(first: FormEntry, second: FormEntry)
    /// Changes no state; it is what gives the event.
    case submit
  }

  public let initialState: FormViewState
  private let rules: [FormRule]
  private let limits: TextLimits

  /// - Parameter limits: How long entries may be.
  public init(limits: TextLimits = TextLimits()) {
    self.init(rules: FormRule.all, limits: limits)
  }

  init(rules: [FormRule], limits: TextLimits = TextLimits()) {
    self.rules = rules
    self.limits = limits
    var state = FormViewState(
      firstEntry: FormEntry(), secondEntry: FormEntry(), validationMessages: [],
      submitAllowed: false)
    state.validate(by: rules)
    initialState = state
  }

  public func refusal(of input: FormInput) -> InputRefusal? {
    switch input {
    case .firstEntryChanged(let value), .secondEntryChanged(let value):
      limits.refusal(of: value, "value")
    case .entriesChanged(let first, let second):
      limits.refusal(of: first, "firstEntry") ?? limits.refusal(of: second, "secondEntry")
    case .submitTapped: nil
    }
  }

  public func effect(of input: FormInput, in state: State) -> Effect<Action> {
    switch input {
    case .firstEntryChanged(let value): .action(.setFirstEntry(value))
    case .secondEntryChanged(let value): .action(.setSecondEntry(value))
    case .entriesChanged(let first, let second):
      .action(.setEntries(first: first, second: second))
    case .submitTapped: state.submitAllowed ? .action(.submit) : .none
    }
  }

  public func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .setFirstEntry(let first):
      state.firstEntry = first
    case .setSecondEntry(let second):
      state.secondEntry = second
    case .setEntries(let first, let second):
      state.firstEntry = first
      state.secondEntry = second
    case .submit:
      return
    }
    state.validate(by: rules)
  }

  public func event(of action: Action, in state: State) -> FormEvent? {
    switch action {
    case .setFirstEntry, .setSecondEntry, .setEntries: nil
    case .submit: .submitted
    }
  }
}

extension FormViewState {
  /// Brings what follows from the entries up to date with them.
  fileprivate mutating func validate(by rules: [FormRule]) {
    validationMessages = rules.broken(by: firstEntry, secondEntry).map(\.message)
    submitAllowed = validationMessages.isEmpty
  }
}
