// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// What a store of a durable machine keeps for whoever writes down what happens in it, be that now or
/// later.
final class StoreRecord<Machine: StateMachine> {
  /// An input whose effects have not ended.
  struct Accepted {
    let input: Machine.Input
    /// That of the process that accepted it.
    let epoch: UInt64
    /// - Units: since 1970.
    let time: Duration
  }

  let durability: Durability<Machine>
  private let scope: String
  /// That of this process.
  let epoch: UInt64
  private var accepted: [InputID: Accepted] = [:]

  private(set) var recorder: (any StoreRecorder)?
  /// The state as it was told; nil where nobody has asked, or where what listeners hold is the state.
  var state: JSONEncodedState?
  var patch = JSONPatchWriter()

  init(_ durability: Durability<Machine>, scope: String, epoch: UInt64) {
    self.durability = durability
    self.scope = scope
    self.epoch = epoch
  }

  /// The state that was told last; nil if there is none that can be read.
  var lastState: Machine.State? {
    guard let state, let value = try? JSONValue(parsing: state.wholeText, limits: .stored) else {
      return nil
    }
    return try? durability.decodeState(value)
  }

  /// The operation of an input.
  func id(of inputID: InputID) -> OperationID {
    OperationID(
      scope: scope, epoch: accepted[inputID]?.epoch ?? epoch, number: inputID.rawValue)
  }

  /// Tells a recorder what has not ended, and whatever happens from now on.
  func tell(_ recorder: any StoreRecorder) {
    self.recorder = recorder
    for (inputID, accepted) in accepted.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      tell(accepted, inputID)
    }
  }

  /// Keeps an input until its effects have ended.
  /// - Parameter isKnown: Whether the recorder knows of it.
  func keep(_ accepted: Accepted, _ inputID: InputID, isKnown: Bool = false) {
    self.accepted[inputID] = accepted
    if !isKnown { tell(accepted, inputID) }
  }

  /// All effects of what has this input id have ended.
  func settled(_ inputID: InputID) {
    guard accepted.removeValue(forKey: inputID) != nil else { return }
    recorder?.settled(operation: inputID.rawValue)
  }

  private func tell(_ accepted: Accepted, _ inputID: InputID) {
    guard let recorder else { return }
    // What cannot be encoded is forgotten by a restart, but its number is not given again.
    let input = (try? durability.encodeInput(accepted.input)) ?? Array("null".utf8)
    recorder.accepted(
      input, operation: inputID.rawValue, epoch: accepted.epoch, at: accepted.time)
  }
}
