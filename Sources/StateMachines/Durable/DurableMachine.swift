// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A state machine whose stores can be written down, and go on in another process after theirs was
/// killed.
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
/// The folded state comes back as it was, through its `Codable`. Where `ViewState` is `State`, frontends
/// must be shown the state itself (`view(of:)` as it is by default): what they are sent is what is
/// written down then.
public protocol DurableMachine: StateMachine where Input: Codable, State: Codable {
  /// What becomes of an input that was accepted before the process ended, and whose effects had not
  /// all ended then: run them again, the part of them that may be; fold that they failed; or
  /// `.none`.
  ///
  /// Which of the effects had been carried out, nobody knows: only what can be done twice, or what is
  /// not done twice under one id (`Effect.identified`), can be run again.
  ///
  /// - Parameters:
  ///   - input: The input.
  ///   - state: The state now, with all that had been folded.
  ///   - elapsed: How long ago the input was accepted; timers keep their deadline by taking it off.
  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action>

  /// What begins in a store that comes back, before any input: work and feeds that went on
  /// beside those of inputs whose effects had not ended; by default `initialEffect`.
  func resumption(in state: State) -> Effect<Action>

  /// True if what `resumption(in:)` begins can wait until a frontend comes to the session, since it only brings up to date
  /// what frontends see; false by default. Then a server does not load the session before.
  var resumesForFrontends: Bool { get }

  /// What is folded first in a store that comes back without all inputs whose effects had not ended,
  /// since what was written down was damaged; by default nothing.
  ///
  /// It ends what the state says is going on, and which may go on no more.
  func interruption(in state: State) -> Action?
}

extension DurableMachine {
  public func resumption(in state: State) -> Effect<Action> { initialEffect }
  public var resumesForFrontends: Bool { false }
  public func interruption(in state: State) -> Action? { nil }
}

/// What the rest of the engine needs of a durable machine, which need not know that it is one.
struct Durability<Machine: StateMachine> {
  let encodeState: (Machine.State) throws(JSONError) -> JSONEncodedState
  let decodeState: (JSONValue) throws(JSONError) -> Machine.State
  let encodeInput: (Machine.Input) throws(JSONError) -> [UInt8]
  let restart: (Machine, Machine.Input, Machine.State, Duration) -> Effect<Machine.Action>
  let resumption: (Machine, Machine.State) -> Effect<Machine.Action>
  let resumesForFrontends: (Machine) -> Bool
  let interruption: (Machine, Machine.State) -> Machine.Action?

  /// That of a machine; nil if it is not durable.
  static var ofMachine: Durability? {
    guard let durable = Machine.self as? any DurableMachine.Type else { return nil }
    return durable.durability as? Durability
  }
}

extension DurableMachine {
  /// `Durability<Self>`; any type can be asked for it.
  fileprivate static var durability: Any {
    let (stateEncoding, inputEncoding) = (JSONEncoding<State>(), JSONEncoding<Input>())
    return Durability<Self>(
      encodeState: { state throws(JSONError) in try JSONEncodedState(state, by: stateEncoding) },
      decodeState: { value throws(JSONError) in
        try JSON.decode(State.self, from: value, limits: .stored)
      },
      encodeInput: { input throws(JSONError) in
        var writer = JSONWriter()
        try inputEncoding.write(input, to: &writer)
        return writer.bytes()
      },
      restart: { $0.restart(of: $1, in: $2, after: $3) },
      resumption: { $0.resumption(in: $1) },
      resumesForFrontends: { $0.resumesForFrontends },
      interruption: { $0.interruption(in: $1) })
  }
}
