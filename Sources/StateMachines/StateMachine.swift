// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// What a store author writes: a state machine that turns inputs into actions and folds actions
/// into a state.
///
///     input -> effect -> action -> state -> view state
///
/// The three functions are pure. Work happens in the `Effect` values that `effect(of:in:)` returns
/// and a `Store` performs; the state changes in `reduce` and nowhere else. An unhappy path is an
/// action like any other, so nothing here throws.
///
/// ```swift
/// struct Counter: StateMachine {
///   enum Input: Codable, Sendable { case incrementTapped, resetTapped }
///   enum Action {
///     case add(Int)
///     case reset
///   }
///   struct State: Codable, Sendable { var count = 0 }
///
///   let initialState = State()
///
///   func effect(of input: Input, in state: State) -> Effect<Action> {
///     switch input {
///     case .incrementTapped: .action(.add(1))
///     case .resetTapped: .action(.reset)
///     }
///   }
///
///   func reduce(_ state: inout State, _ action: Action) {
///     switch action {
///     case .add(let amount): state.count += amount
///     case .reset: state.count = 0
///     }
///   }
/// }
/// ```
///
/// - Shape: on the wire an `Input`, and a `ViewState` that is an enum, is an object with the case
///   as `"type"` and the payload's labels as its other members: `{"type":"incrementTapped"}`.
public protocol StateMachine: Sendable {
  /// What a frontend sends: something that happened on its side.
  associatedtype Input: Decodable & Sendable
  /// What the store does about it: a step of the state.
  associatedtype Action: Sendable
  /// What is folded, and never leaves the store unless it is the view state too.
  associatedtype State: Sendable
  /// What a frontend sees.
  associatedtype ViewState: Encodable & Sendable = State
  /// What happens once and is not state, such as that a form was submitted.
  associatedtype Event: Encodable & Sendable = Never

  /// The state before the first action.
  var initialState: State { get }

  /// What an input sets off, given the state at that moment.
  ///
  /// An input that the state ignores gives `.none`; that is not an error.
  func effect(of input: Input, in state: State) -> Effect<Action>

  /// Folds one action into the state.
  func reduce(_ state: inout State, _ action: Action)

  /// What frontends see of a state; by default all of it.
  func view(of state: State) -> ViewState

  /// What happened with an action, beside the state it was folded into; by default nothing.
  ///
  /// Frontends that have subscribed are told once, after the state, and never again.
  func event(of action: Action, in state: State) -> Event?

  /// The input to take when the last frontend has become inactive, or one active again; by default
  /// none.
  func input(for phase: LifecyclePhase) -> Input?

  /// Why an input is not taken although it could be read, a limit that it goes beyond say; by default
  /// every input is taken.
  ///
  /// Whoever sends it over the wire is told, and nothing has happened then. Inputs from within the
  /// program are not asked about.
  func refusal(of input: Input) -> InputRefusal?

  /// The same where it depends on the state, a limit to how much is in that say; by default
  /// `refusal(of:)`.
  func refusal(of input: Input, in state: State) -> InputRefusal?

  /// Whether an action hides something that frontends have been shown; by default none does.
  ///
  /// No frame from before it is replayed to a frontend that comes back, nor sent any more to one that
  /// is slow to read.
  func isRedaction(_ action: Action) -> Bool

  /// What begins with the store: work or feeds that no input sets off; by default nothing.
  var initialEffect: Effect<Action> { get }

  /// Brings what frontends hold to a view state, and writes how. Nothing that a machine writes itself.
  ///
  /// It stands here, and for all to see, so that the compiler chooses the way once, where the machine is
  /// compiled: a short one for view states that are `JSONOutlined`, one that fits all for the others.
  static func advance(
    _ held: inout JSONEncodedState, to view: ViewState, by encoding: JSONEncoding<ViewState>,
    using writer: inout JSONWriter, writing patch: inout JSONPatchWriter
  ) throws(JSONError)
}

extension StateMachine {
  public static func advance(
    _ held: inout JSONEncodedState, to view: ViewState, by encoding: JSONEncoding<ViewState>,
    using writer: inout JSONWriter, writing patch: inout JSONPatchWriter
  ) throws(JSONError) {
    try held.advance(to: view, by: encoding, using: &writer, writing: &patch)
  }

  public func event(of action: Action, in state: State) -> Event? { nil }
  public func input(for phase: LifecyclePhase) -> Input? { nil }
  public func refusal(of input: Input) -> InputRefusal? { nil }
  public func refusal(of input: Input, in state: State) -> InputRefusal? { refusal(of: input) }
  public func isRedaction(_ action: Action) -> Bool { false }
  public var initialEffect: Effect<Action> { .none }
}

extension StateMachine where ViewState: JSONOutlined {
  public static func advance(
    _ held: inout JSONEncodedState, to view: ViewState, by encoding: JSONEncoding<ViewState>,
    using writer: inout JSONWriter, writing patch: inout JSONPatchWriter
  ) throws(JSONError) {
    try held.advance(toOutlined: view, by: encoding, using: &writer, writing: &patch)
  }
}

extension StateMachine where ViewState == State {
  /// The state itself.
  public func view(of state: State) -> State { state }
}
