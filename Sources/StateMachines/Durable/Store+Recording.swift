// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

// What is written down of a store, and how it goes on after a restart.

extension Store {
  public var lastOperation: UInt64 { inputIDs.last }

  public func prepareRecord(scope: String, epoch: UInt64) -> Bool {
    guard let durability = Durability<Machine>.ofMachine else { return false }
    record = StoreRecord(durability, scope: scope, epoch: epoch)
    return true
  }

  public func record(by recorder: any StoreRecorder) {
    guard let record else { return }
    if !Self.showsState { record.state = try? record.durability.encodeState(state) }
    tellState(record, recorder)
    record.tell(recorder)
  }

  public func resume(areSomeLost: Bool) {
    guard let record else { return }
    if areSomeLost, let action = record.durability.interruption(machine, state) {
      begin(.action(action))
    }
    begin(record.durability.resumption(machine, state))
  }

  public var continuesAlone: Bool {
    if let record, record.durability.resumesForFrontends(machine) { return false }
    let effect = record.map { $0.durability.resumption(machine, state) } ?? machine.initialEffect
    if case .none = effect.step { return false }
    return true
  }

  public func restart(_ accepted: AcceptedInput) throws(JSONError) {
    guard let record else { return }
    let inputID = InputID(rawValue: accepted.operation)
    let input: Machine.Input
    do throws(JSONError) {
      input = try JSON.decode(Machine.Input.self, from: accepted.input, limits: .stored)
    } catch {
      record.recorder?.settled(operation: accepted.operation)
      throw error
    }
    let time = runner.environment.clock.sinceEpoch - accepted.age
    record.keep(.init(input: input, epoch: accepted.epoch, time: time), inputID, isKnown: true)
    waiting.append(.restart(input, inputID, after: accepted.age))
    if phase == .idle { work() }
  }

  /// What becomes of an input of before.
  func restart(of input: Machine.Input, after age: Duration) -> Effect<Machine.Action> {
    record?.durability.restart(machine, input, state, age) ?? .none
  }

  /// An input has been taken, with all that it sets off at once.
  func accepted(_ input: Machine.Input, _ inputID: InputID) {
    guard let record, !inputIDs.isSettled(inputID) else { return }
    let time = runner.environment.clock.sinceEpoch
    record.keep(.init(input: input, epoch: record.epoch, time: time), inputID)
  }

  /// The state as it is journaled; nil if it is not, or if the view state that listeners hold is the state.
  func encoded(for record: StoreRecord<Machine>) throws(JSONError) -> JSONEncodedState? {
    guard !Self.showsState, record.recorder != nil else { return nil }
    // A state that could not be encoded when recording began cannot be taken back: the first that can be is journaled.
    guard record.state != nil else { return try? record.durability.encodeState(state) }
    return try record.durability.encodeState(state)
  }

  /// An action has been folded.
  ///
  /// - Parameter next: What `encoded` has given.
  func recordStep(
    _ record: StoreRecord<Machine>, _ next: JSONEncodedState?, hasPublished: Bool
  ) {
    guard let recorder = record.recorder else { return }
    let wantsState: Bool
    if Self.showsState {
      guard hasPublished else { return }
      wantsState = withPatch { recorder.folded($0, revision: revision) }
    } else {
      record.patch.removeAll(keepingCapacity: true)
      let isFirst = record.state == nil
      if let next {
        if isFirst { record.state = next }
        record.state?.advance(to: next, writing: &record.patch)
      }
      let wasTold = isFirst && record.state != nil
      guard hasPublished || wasTold || !record.patch.isEmpty else { return }
      let (isDue, size) = record.patch.withBytes { patch in
        (recorder.folded(patch, revision: revision), patch.count)
      }
      // What a large change has needed is given back: there are thousands of stores.
      if size > Self.keptPatchBytes { record.patch.removeAll(keepingCapacity: false) }
      wantsState = isDue || wasTold
    }
    if wantsState { tellState(record, recorder) }
  }

  private static var keptPatchBytes: Int { 4 << 10 }

  private func tellState(_ record: StoreRecord<Machine>, _ recorder: any StoreRecorder) {
    guard let state = Self.showsState ? published : record.state else { return }
    recorder.stateIs(state, revision: revision)
  }

  /// Whether what listeners hold is the state, as `DurableMachine` promises.
  private static var showsState: Bool { Machine.State.self == Machine.ViewState.self }
}
