// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A state machine whose stores can be persisted, and can continue in another process after theirs
/// was killed.
///
/// ```swift
/// extension Reminder: DurableMachine {
///   func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
///     switch input {
///     case .remindLater(let wait): .after(max(.zero, wait - elapsed), .action(.remind))
///     case .loadTapped: effect(of: input, in: state)
///     case .payTapped: .action(.paymentFailed)
///     }
///   }
/// }
/// ```
///
/// The folded state is persisted and restored through its `Codable` conformance. If `ViewState` is
/// `State`, `view(of:)` must return the state itself (the default): in this case the view state
/// that frontends receive is what is persisted.
///
/// # Evolution
///
/// A newer program reads the states that an older one has persisted, in this order:
/// 1. If the state has an older `version`, `migrate(from:state:)` converts it.
/// 2. The state is decoded. A member that it lacks is filled in from `initialState`, at the same
///    path, or from `memberDefaults`. A member that `State` no longer has is ignored.
/// 3. A state that cannot be read, or that a newer version has written, is kept aside in the
///    journal, and the store opens in its initial state. Nothing is deleted.
///
/// Unsettled inputs are decoded as `Input`; one that cannot be decoded is dropped, and the action of
/// `interruption(in:)` is folded.
public protocol DurableMachine: StateMachine where Input: Codable, State: Codable {
  /// Returns the effect for an input that was accepted before the process ended and whose effects
  /// had not all ended.
  ///
  /// The effect can run those effects again that may be run again, give an action for their
  /// failure, or be `.none`. The process may have ended before or after it performed any of the
  /// effects. Therefore an effect can be run again only if it is idempotent, or if it carries an id
  /// under which it is performed only once (`Effect.identified`).
  ///
  /// - Parameters:
  ///   - input: The input.
  ///   - state: The current state, with all actions folded.
  ///   - elapsed: The time since the input was accepted. A timer keeps its deadline if `elapsed` is
  ///     subtracted from its wait.
  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action>

  /// Returns the input as it is journaled, and as `restart(of:in:after:)` receives it. The default
  /// returns it unchanged, so that its sender is not known after a restart.
  ///
  /// - Parameters:
  ///   - input: An input whose effects have not ended.
  ///   - viewer: The participant that has sent it.
  func journaled(_ input: Input, from viewer: Viewer) -> Input

  /// Returns the effect that a restored store begins with, before any input: work and feeds that do
  /// not belong to an input whose effects had not ended. The default is `initialEffect`.
  func resumption(in state: State) -> Effect<Action>

  /// True if the effect of `resumption(in:)` can wait until a frontend attaches to the session,
  /// because it only updates what frontends see. The default is false. If it is true, a server does
  /// not load the session before a frontend attaches.
  var resumesForFrontends: Bool { get }

  /// Returns the first action that is folded in a restored store if some inputs whose effects had
  /// not ended are lost, because the persisted data was damaged. The default is nil: no action.
  ///
  /// The action corrects a state in which an operation is still running although it may have ended.
  func interruption(in state: State) -> Action?

  /// The version of the persisted form of `State`; at least 1. The default is 1.
  ///
  /// Raise it together with a change that needs `migrate(from:state:)`, and when `view(of:)` shows
  /// an unchanged state in another form.
  var version: Int { get }

  /// Converts a persisted state of an older version to the form of `State`. The default returns the
  /// state unchanged.
  ///
  /// ```swift
  /// var version: Int { 3 }
  ///
  /// func migrate(from version: Int, state: JSONValue) throws -> JSONValue {
  ///   var members = state.object ?? [:]
  ///   if version < 2 { members["title"] = members.removeValue(forKey: "name") }
  ///   if version < 3 { members["zoom"] = "fit" }
  ///   return .object(members)
  /// }
  /// ```
  ///
  /// The result may lack members that are filled in. If the function throws, the state is kept
  /// aside.
  ///
  /// - Parameters:
  ///   - version: The version of the machine that has persisted the state; less than `version`.
  ///   - state: The state as JSON, as that version has encoded it.
  func migrate(from version: Int, state: JSONValue) throws -> JSONValue

  /// Values from which members are filled in that elements of lists and dictionaries, and payloads
  /// of enums, lack in a persisted state. The default is empty.
  ///
  /// ```swift
  /// var memberDefaults: [(path: String, value: any Encodable)] {
  ///   [("/cards/*", Card(title: ""))]
  /// }
  /// ```
  ///
  /// A path is a JSON Pointer (RFC 6901) in which `*` stands for each element of an array and each
  /// member of an object. A value is used for each value at its path, and for those inside of it.
  var memberDefaults: [(path: String, value: any Encodable)] { get }
}

extension DurableMachine {
  /// Returns the input.
  public func journaled(_ input: Input, from viewer: Viewer) -> Input { input }
  /// Returns `initialEffect`.
  public func resumption(in state: State) -> Effect<Action> { initialEffect }
  /// False.
  public var resumesForFrontends: Bool { false }
  /// Returns nil: no action is folded.
  public func interruption(in state: State) -> Action? { nil }
  /// 1.
  public var version: Int { 1 }
  /// Returns the state unchanged.
  public func migrate(from version: Int, state: JSONValue) throws -> JSONValue { state }
  /// No values.
  public var memberDefaults: [(path: String, value: any Encodable)] { [] }
}

/// The functions of a durable machine, for code that is generic over all state machines.
struct Durability<Machine: StateMachine> {
  let encodeState: (Machine.State) throws(JSONError) -> JSONEncodedState
  let decodeState: (JSONValue) throws(JSONError) -> Machine.State
  /// Reads a state of an earlier process; see `RestoredState`.
  let restoreState:
    (Machine, JSONValue, _ version: Int?) throws(JSONError) -> RestoredState<Machine.State>
  let version: (Machine) -> Int
  let encodeInput: (Machine.Input) throws(JSONError) -> [UInt8]
  let journaled: (Machine, Machine.Input, Viewer) -> Machine.Input
  let restart: (Machine, Machine.Input, Machine.State, Duration) -> Effect<Machine.Action>
  let resumption: (Machine, Machine.State) -> Effect<Machine.Action>
  let resumesForFrontends: (Machine) -> Bool
  let interruption: (Machine, Machine.State) -> Machine.Action?

  /// The functions of the machine; nil if the machine is not durable.
  static var ofMachine: Durability? {
    guard let durable = Machine.self as? any DurableMachine.Type else { return nil }
    return durable.durability as? Durability
  }

  /// Returns the functions of the machine.
  ///
  /// - Throws: `JSONError` if the machine is not durable.
  static func required() throws(JSONError) -> Durability {
    guard let durability = ofMachine else {
      throw JSONError(.type, "states of this kind are not persisted; use a DurableMachine")
    }
    return durability
  }
}

extension DurableMachine {
  /// A `Durability<Self>` as `Any`, so that code without the constraint can read it.
  fileprivate static var durability: Any {
    let (stateEncoding, inputEncoding) = (JSONEncoding<State>(), JSONEncoding<Input>())
    return Durability<Self>(
      encodeState: { state throws(JSONError) in try JSONEncodedState(state, by: stateEncoding) },
      decodeState: { value throws(JSONError) in
        try JSON.decode(State.self, from: value, limits: .stored)
      },
      restoreState: { machine, value, version throws(JSONError) in
        try machine.restoredState(value, version: version)
      },
      version: { $0.version },
      encodeInput: { input throws(JSONError) in
        var writer = JSONWriter()
        try inputEncoding.write(input, to: &writer)
        return writer.bytes()
      },
      journaled: { $0.journaled($1, from: $2) },
      restart: { $0.restart(of: $1, in: $2, after: $3) },
      resumption: { $0.resumption(in: $1) },
      resumesForFrontends: { $0.resumesForFrontends },
      interruption: { $0.interruption(in: $1) })
  }
}
