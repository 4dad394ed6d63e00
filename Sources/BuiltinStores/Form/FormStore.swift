// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

/// A form of two entries that must match. It is validated after each change, and can be submitted
/// while both rules hold.
///
/// - Order: the event of a submission comes after the updates of the changes before it.
public struct FormStore: StateMachine {
  /// The inputs of kind `form`.
  public typealias Input = FormInput
  /// The state and view state of kind `form`.
  public typealias State = FormViewState
  /// The events of kind `form`.
  public typealias Event = FormEvent

  /// An action of the form.
  public enum Action: Equatable, Sendable {
    /// Changes the first entry.
    case setFirstEntry(FormEntry)
    /// Changes the second entry.
    case setSecondEntry(FormEntry)
    /// Changes both entries.
    case setEntries(first: FormEntry, second: FormEntry)
    /// The form is submitted: gives the event and does not change the state.
    case submit
  }

  /// The state of an empty form, validated.
  public let initialState: FormViewState
  private let rules: [FormRule]
  private let limits: TextLimits

  /// Creates a form with the built-in rules.
  ///
  /// - Parameter limits: The longest entries.
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

  /// Returns the reason to refuse an entry that is too long; else nil.
  public func refusal(of input: FormInput) -> InputRefusal? {
    switch input {
    case .firstEntryChanged(let value), .secondEntryChanged(let value):
      limits.refusal(of: value, "value")
    case .entriesChanged(let first, let second):
      limits.refusal(of: first, "firstEntry") ?? limits.refusal(of: second, "secondEntry")
    case .submitTapped: nil
    }
  }

  /// Returns the effect of an input in the current state.
  public func effect(of input: FormInput, in state: State) -> Effect<Action> {
    switch input {
    case .firstEntryChanged(let value): .action(.setFirstEntry(value))
    case .secondEntryChanged(let value): .action(.setSecondEntry(value))
    case .entriesChanged(let first, let second):
      .action(.setEntries(first: first, second: second))
    case .submitTapped: state.submitAllowed ? .action(.submit) : .none
    }
  }

  /// Folds one action into the state and validates the entries.
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

  /// Returns the event of a submission; nil for other actions.
  public func event(of action: Action, in state: State) -> FormEvent? {
    switch action {
    case .setFirstEntry, .setSecondEntry, .setEntries: nil
    case .submit: .submitted
    }
  }
}

extension FormViewState {
  /// Computes the messages and `submitAllowed` from the entries.
  fileprivate mutating func validate(by rules: [FormRule]) {
    validationMessages = rules.broken(by: firstEntry, secondEntry).map(\.message)
    submitAllowed = validationMessages.isEmpty
  }
}
