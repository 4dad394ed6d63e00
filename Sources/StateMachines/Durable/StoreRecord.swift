// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The data of a durable store that its recorder needs, kept from before the recorder is attached.
final class StoreRecord<Machine: StateMachine> {
  /// An input whose effects have not ended.
  struct Accepted {
    let input: Machine.Input
    /// The epoch of the process that accepted the input.
    let epoch: UInt64
    /// The time at which the input was accepted, since 1970-01-01T00:00:00Z.
    let time: Duration
  }

  let durability: Durability<Machine>
  private let scope: String
  /// The epoch of this process.
  let epoch: UInt64
  private var accepted: [InputID: Accepted] = [:]

  private(set) var recorder: (any StoreRecorder)?
  /// The state that was recorded last; nil if there is no recorder, or if listeners hold the state
  /// itself.
  var state: JSONEncodedState?
  var patch = JSONPatchWriter()

  /// The numbers of the named parts of inputs (`Effect.identified(part:)`). Those of settled inputs
  /// are removed when another input has such parts, so that other inputs cost nothing.
  private var parts: [InputID: [String: Int]] = [:]

  init(_ durability: Durability<Machine>, scope: String, epoch: UInt64) {
    self.durability = durability
    self.scope = scope
    self.epoch = epoch
  }

  /// The state that was recorded last, decoded; nil if there is none or it cannot be decoded.
  var lastState: Machine.State? {
    guard let state, let value = try? JSONValue(parsing: state.wholeText, limits: .stored) else {
      return nil
    }
    return try? durability.decodeState(value)
  }

  /// Returns the operation id of an input.
  func id(of inputID: InputID) -> OperationID {
    OperationID(
      scope: scope, epoch: accepted[inputID]?.epoch ?? epoch, number: inputID.rawValue)
  }

  /// Sends a recorder all inputs whose effects have not ended, and from then on each change.
  func attach(_ recorder: any StoreRecorder) {
    self.recorder = recorder
    for (inputID, accepted) in accepted.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      recordAccepted(accepted, inputID)
    }
  }

  /// Keeps an input until its effects have ended.
  ///
  /// - Parameter isKnown: True if the recorder has this input already.
  func keep(_ accepted: Accepted, _ inputID: InputID, isKnown: Bool = false) {
    self.accepted[inputID] = accepted
    if !isKnown { recordAccepted(accepted, inputID) }
  }

  /// Counts the parts of an input that have a name, including this one.
  func count(
    _ part: String, of inputID: InputID, isSettled: (InputID) -> Bool
  ) -> Int {
    if parts[inputID] == nil { parts = parts.filter { !isSettled($0.key) } }
    parts[inputID, default: [:]][part, default: 0] += 1
    return parts[inputID]?[part] ?? 1
  }

  /// Removes an input whose effects have all ended, and notifies the recorder.
  func settled(_ inputID: InputID) {
    guard accepted.removeValue(forKey: inputID) != nil else { return }
    recorder?.settled(operation: inputID.rawValue)
  }

  private func recordAccepted(_ accepted: Accepted, _ inputID: InputID) {
    guard let recorder else { return }
    // An input that cannot be encoded is not run again after a restart, but its number stays used.
    let input = (try? durability.encodeInput(accepted.input)) ?? Array("null".utf8)
    recorder.accepted(
      input, operation: inputID.rawValue, epoch: accepted.epoch, at: accepted.time)
  }
}
