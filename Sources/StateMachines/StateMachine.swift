// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A state machine, written by a store author: it turns inputs into actions and folds actions into
/// a state.
///
///     input -> effect -> action -> state -> view state
///
/// `effect(of:in:)`, `reduce` and `view(of:)` are pure functions. Work is done by the `Effect`
/// values that `effect(of:in:)` and `effect(after:in:)` return and a `Store` performs. The state
/// changes only in `reduce`. A failure is an action too, so no function here throws.
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
/// - Shape: on the wire an `Input`, and a `ViewState` that is an enum, is an object. Its `"type"`
///   is the name of the case, and its other members are the labels of the payload:
///   `{"type":"incrementTapped"}`. A payload without a label has the members `_0`, `_1` and so on,
///   by its position: label what clients send. docs/reference/types.md has the form of each type.
public protocol StateMachine: Sendable {
  /// An input: something that happened on the frontend's side.
  associatedtype Input: Decodable & Sendable
  /// A step of the state.
  associatedtype Action: Sendable
  /// The folded state. It does not leave the store unless it is also the view state.
  associatedtype State: Sendable
  /// The view of the state that frontends receive.
  ///
  /// A value: a member with the same bytes as before is not encoded again, so objects in arrays,
  /// dictionaries or enums must not change.
  associatedtype ViewState: Encodable & Sendable = State
  /// An event: something that happens once and is not part of the state, such as that a form was
  /// submitted.
  associatedtype Event: Encodable & Sendable = Never
  /// The viewers that see the same view: the result of `audience(of:)`. The default has all viewers.
  associatedtype Audience: Hashable & Sendable = Everyone
  /// The result of `input(for: [Viewer])`: `Input?`; `Never?` for a machine that gets no input when its
  /// viewers change, but is called; or the default for machines without it.
  associatedtype ViewersInput = NoInput

  /// The state before the first action.
  var initialState: State { get }

  /// Returns the effect of an input in the current state.
  ///
  /// An input that the state ignores gives `.none`; that is not an error.
  func effect(of input: Input, in state: State) -> Effect<Action>

  /// Folds one action into the state.
  func reduce(_ state: inout State, _ action: Action)

  /// Returns the effect that an action causes, given the state after it was folded. The default is
  /// `.none`.
  ///
  /// For transitions that do not depend on the origin of an action: "the time is over, so stop the
  /// ticks" or "A was loaded, so load B". The effect is performed after the immediate actions that
  /// were folded together with this one. It belongs to the input of the action, which is settled
  /// after it. If the action came from a feed, the effect belongs to no input.
  func effect(after action: Action, in state: State) -> Effect<Action>

  /// Returns the view of a state that frontends receive. The default is the state itself.
  func view(of state: State) -> ViewState

  /// Returns the event of an action, given the state after it was folded. The default is nil: no
  /// event.
  ///
  /// An event is sent once, after the update of the state, to the frontends that have subscribed.
  /// It is not repeated.
  func event(of action: Action, in state: State) -> Event?

  /// Returns the viewers that receive an event, given the state after its action. The default is
  /// everyone who has subscribed.
  ///
  /// For events that not all may know, such as a card that a player draws:
  ///
  /// ```swift
  /// func recipients(of event: Event, in state: State) -> EventRecipients {
  ///   switch event {
  ///   case .drawn(_, let player): .only { $0.identity == player }
  ///   case .roundEnded: .everyone
  ///   }
  /// }
  /// ```
  func recipients(of event: Event, in state: State) -> EventRecipients

  /// Returns the input to take when the last active frontend has become inactive, or when one
  /// becomes active again. The default is nil: no input.
  func input(for phase: LifecyclePhase) -> Input?

  /// Returns the reason to refuse an input that was decoded, for example because it exceeds a
  /// limit. The default is nil: every input is accepted.
  ///
  /// A client whose input is refused gets an error response, and nothing has changed. The function
  /// is called only for inputs from clients, not for inputs that the program sends.
  func refusal(of input: Input) -> InputRefusal?

  /// Returns the reason to refuse an input that depends on the state, for example a limit to the
  /// size of the state. The default is `refusal(of:)`.
  func refusal(of input: Input, in state: State) -> InputRefusal?

  /// Returns the bytes of a state that are not in its view state, for the limits of the session. The
  /// default is 0.
  ///
  /// For a state that clients can fill without seeing it. It is called at least once for each turn
  /// that changes the store, so it must not go through the state. A machine with children adds their
  /// bytes itself.
  func hiddenBytes(of state: State) -> Int

  /// Returns true if an action hides something that frontends have received. The default is false.
  ///
  /// No update from before the action is replayed to a frontend that resumes, or sent to a slow
  /// consumer.
  func isRedaction(_ action: Action) -> Bool

  /// The machines that run inside this one, each in a part of its state. The default is none.
  @ChildrenBuilder<Self> var children: [Child<Self>] { get }

  /// The effect that begins when the store opens: work or feeds of no input. The default is none.
  var initialEffect: Effect<Action> { get }

  /// Returns the effect of an input of a viewer; see `ViewerAwareMachine`. The default is
  /// `effect(of:in:)`.
  func effect(of input: Input, in state: State, from viewer: Viewer) -> Effect<Action>

  /// Returns the reason to refuse an input of a viewer; see `ViewerAwareMachine`. The default is
  /// `refusal(of:in:)`.
  func refusal(of input: Input, in state: State, from viewer: Viewer) -> InputRefusal?

  /// Returns the audience of a viewer; see `AudienceMachine`.
  func audience(of viewer: Viewer) -> Audience

  /// Returns the view of a state that an audience sees; see `AudienceMachine`.
  func view(of state: State, for audience: Audience) -> ViewState

  /// Returns the input to take when the viewers have changed; see `PresenceAwareMachine`.
  func input(for viewers: [Viewer]) -> ViewersInput

  /// Changes the encoded view state to `view`, and writes the patch. A store author does not
  /// implement it.
  ///
  /// It is a public requirement so that the compiler selects the implementation once, where the
  /// machine is compiled: a fast one for view states that conform to `IncrementallyDiffable`, and a
  /// general one for other view states.
  static func advance(
    _ held: inout JSONEncodedState, to view: ViewState, by encoding: JSONEncoding<ViewState>,
    using writer: inout JSONWriter, writing patch: inout JSONPatchWriter
  ) throws(JSONError)
}

extension StateMachine {
  /// Encodes the view state and compares it with the previous one.
  public static func advance(
    _ held: inout JSONEncodedState, to view: ViewState, by encoding: JSONEncoding<ViewState>,
    using writer: inout JSONWriter, writing patch: inout JSONPatchWriter
  ) throws(JSONError) {
    try held.advance(to: view, by: encoding, using: &writer, writing: &patch)
  }

  /// Returns `.none`.
  public func effect(after action: Action, in state: State) -> Effect<Action> { .none }
  /// Returns nil: no event.
  public func event(of action: Action, in state: State) -> Event? { nil }
  /// Returns everyone.
  public func recipients(of event: Event, in state: State) -> EventRecipients { .everyone }
  /// Returns nil: no input.
  public func input(for phase: LifecyclePhase) -> Input? { nil }
  /// Returns nil: every input is accepted.
  public func refusal(of input: Input) -> InputRefusal? { nil }
  /// Returns `effect(of:in:)`.
  public func effect(of input: Input, in state: State, from viewer: Viewer) -> Effect<Action> {
    effect(of: input, in: state)
  }
  /// Returns `refusal(of:in:)`.
  public func refusal(of input: Input, in state: State, from viewer: Viewer) -> InputRefusal? {
    refusal(of: input, in: state)
  }
  /// Returns `refusal(of: input)`.
  public func refusal(of input: Input, in state: State) -> InputRefusal? { refusal(of: input) }
  /// Returns 0.
  public func hiddenBytes(of state: State) -> Int { 0 }
  /// Returns false.
  public func isRedaction(_ action: Action) -> Bool { false }
  /// No children.
  public var children: [Child<Self>] { [] }
  /// No effect.
  public var initialEffect: Effect<Action> { .none }
}

extension StateMachine where ViewState: IncrementallyDiffable {
  /// Compares the view state with the previous one by its layout, without encoding all of it.
  public static func advance(
    _ held: inout JSONEncodedState, to view: ViewState, by encoding: JSONEncoding<ViewState>,
    using writer: inout JSONWriter, writing patch: inout JSONPatchWriter
  ) throws(JSONError) {
    try held.advance(toDiffable: view, by: encoding, using: &writer, writing: &patch)
  }
}

/// The only audience of a machine whose viewers all see the same view.
public struct Everyone: Hashable, Sendable {
  /// Creates the audience of all viewers.
  public init() {}
}

/// The result of `input(for: [Viewer])` of a machine that is not aware of its viewers.
public struct NoInput: Sendable {}

extension StateMachine where Audience == Everyone {
  /// Returns the audience of all viewers.
  public func audience(of viewer: Viewer) -> Everyone { Everyone() }
  /// Returns `view(of:)`.
  public func view(of state: State, for audience: Everyone) -> ViewState { view(of: state) }
}

extension StateMachine where ViewersInput == NoInput {
  /// Returns no input.
  public func input(for viewers: [Viewer]) -> NoInput { NoInput() }
}

extension StateMachine where ViewState == State {
  /// Returns the state itself.
  public func view(of state: State) -> State { state }
}
