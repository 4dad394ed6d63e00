// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

// Effects that folded actions cause; see `StateMachine.effect(after:in:)`.

extension Store {
  /// An effect that an action has caused and that has not been performed.
  struct FollowUp {
    let effect: Effect<Machine.Action>
    /// The input of the action; nil if it came from a feed.
    let inputID: InputID?
  }

  /// The number of effects after which a chain of immediate actions is treated as endless.
  static var maximumChain: Int { 10_000 }

  /// Queues the effect that an action has caused.
  ///
  /// - Parameter inputID: The input of the effect that gave the action; nil for a feed.
  func follow(_ effect: Effect<Machine.Action>, for inputID: InputID?) {
    let unsettled = inputID.flatMap { $0 == performing || !inputIDs.isSettled($0) ? $0 : nil }
    // A feed that the input cancels.
    let inputID = unsettled ?? performing
    if let inputID, inputID != performing { inputIDs.began(inputID) }
    followUps.append(FollowUp(effect: effect, inputID: inputID))
  }

  /// Performs the effects that the actions of the input that is being performed have caused, and
  /// those that follow from them.
  func performFollowUps(of inputID: InputID) {
    var count = 0
    while let index = followUps.firstIndex(where: { $0.inputID == inputID }) {
      let effect = followUps.remove(at: index).effect
      count += 1
      if count > Self.maximumChain {
        followUps.removeAll { $0.inputID == inputID }
        return failed(Self.endless, after: nil)
      }
      perform(effect, for: inputID)
    }
  }

  /// Performs the other effects that actions have caused, and those that follow from them.
  func performFollowUps() {
    isPerformingFollowUps = true
    defer { isPerformingFollowUps = false }
    var count = 0
    while phase == .folding, !followUps.isEmpty {
      let next = followUps.removeFirst()
      count += 1
      if count > Self.maximumChain {
        failed(Self.endless, after: nil)
      } else if let inputID = next.inputID {
        perform(next.effect, for: inputID)
      } else {
        performWithoutInput(next.effect)
      }
      if let inputID = next.inputID { settled(inputID, cancelled: false) }
    }
  }

  private static var endless: JSONError {
    JSONError(
      .endless,
      "\(maximumChain) effects followed one another immediately; effect(after:in:) of \(Machine.self) never ends"
    )
  }
}

extension JSONError.Code {
  /// Immediate actions cause one another without end.
  public static let endless = JSONError.Code(rawValue: "endless")
}

extension Store: StateOwner {
  var currentState: any Sendable { running.state }

  func count(_ part: String, of operation: OperationID) -> Int {
    guard let record else { return 1 }
    return record.count(part, of: InputID(rawValue: operation.number)) { inputIDs.isSettled($0) }
  }
}

extension StateMachine {
  /// Returns an effect that is made from the state at the time at which it is performed.
  ///
  /// `effect(of:in:)` sees the state before the input. An effect that is postponed, or that comes
  /// after other actions, can read the state that it finds then:
  ///
  /// ```swift
  /// withState { state in save(state.board) }.debounced("save", for: .milliseconds(500))
  /// ```
  ///
  /// - Parameter make: Makes the effect from the state.
  public func withState(_ make: @escaping @Sendable (State) -> Effect<Action>) -> Effect<Action> {
    Effect(
      step: .deferred { moment in
        // Nil if the machine is a child that is absent now.
        (moment.state as? State).map(make) ?? .none
      })
  }
}
