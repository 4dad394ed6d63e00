// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

// Recording of a store, and its restart in another process.

extension Store {
  /// The number of the last input.
  public var lastOperation: UInt64 { inputIDs.last }

  /// Prepares the store to be recorded, if its machine is a `DurableMachine`; see
  /// `AnyStore.prepareRecord`.
  public func prepareRecord(scope: String, epoch: UInt64) -> Bool {
    guard let durability = Durability<Machine>.ofMachine else { return false }
    precondition(
      durability.version(machine) >= 1, "the version of a durable machine is at least 1")
    record = StoreRecord(durability, scope: scope, epoch: epoch)
    return true
  }

  /// The version of the recorded states; see `AnyStore.version`.
  public var version: Int { record?.durability.version(machine) ?? 1 }

  /// Passes the state and the unsettled inputs to a recorder, and from then on each change.
  public func record(by recorder: any StoreRecorder) {
    guard let record else { return }
    if !Self.showsState { record.state = try? record.durability.encodeState(state) }
    recordState(record, recorder)
    record.attach(recorder)
  }

  /// Performs `DurableMachine.resumption` in a store that was restored; see `AnyStore.resume`.
  public func resume(areSomeLost: Bool) {
    guard record != nil else { return }
    if areSomeLost {
      for action in running.composed.interruptions(in: state) { begin(.action(action)) }
    }
    begin(running.composed.resumption(in: state))
  }

  /// True if an effect would begin in the store after a restart although no frontend attaches and
  /// no input is unsettled.
  public var continuesAlone: Bool {
    let composed = running.composed
    if record != nil, composed.resumesForFrontends { return false }
    let effect =
      record == nil ? composed.initialEffect(in: state) : composed.resumption(in: state)
    return !effect.onlyListens
  }

  /// True if the store would be the same after it was restored; see `AnyStore.isFullyRecorded`.
  public var isFullyRecorded: Bool {
    guard record != nil, !continuesAlone else { return false }
    return running.composed.resumesForFrontends
      ? !hasWork(through: .max) : runner.onlyListens
  }

  /// Returns true if `restart` can decode an input; see `AnyStore.canRestart`.
  public func canRestart(_ input: [UInt8]) -> Bool {
    (try? JSON.decode(Machine.Input.self, from: input, limits: .stored)) != nil
  }

  /// Restarts an input whose effects had not ended in the earlier process; see `AnyStore.restart`.
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

  /// Returns the effect for an input of an earlier process.
  func restart(of input: Machine.Input, after age: Duration) -> Effect<Machine.Action> {
    running.composed.restart(of: input, in: state, after: age)
  }

  /// Records an input after its immediate actions were folded, unless it is settled already.
  func accepted(_ input: Machine.Input, _ inputID: InputID, _ viewer: Viewer) {
    guard let record, !inputIDs.isSettled(inputID) else { return }
    let input = record.durability.journaled(running.composed.machine, input, viewer)
    let time = runner.environment.clock.sinceEpoch
    record.keep(.init(input: input, epoch: record.epoch, time: time), inputID)
  }

  /// Returns the state as it is journaled; nil if the state is not journaled, or if the view state
  /// that listeners hold is the state.
  func encoded(for record: StoreRecord<Machine>) throws(JSONError) -> JSONEncodedState? {
    guard !Self.showsState, record.recorder != nil else { return nil }
    // If the state could not be encoded when recording began, there is no earlier state to return
    // to. The first state that can be encoded is journaled.
    guard record.state != nil else { return try? record.durability.encodeState(state) }
    return try record.durability.encodeState(state)
  }

  /// Records an action that was folded.
  ///
  /// - Parameter next: The result of `encoded(for:)`.
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
      let isFirstRecorded = isFirst && record.state != nil
      guard hasPublished || isFirstRecorded || !record.patch.isEmpty else { return }
      let (isDue, size) = record.patch.withBytes { patch in
        (recorder.folded(patch, revision: revision), patch.count)
      }
      // Releases the memory of a large change: there are thousands of stores.
      if size > Self.maximumReusedPatchBytes { record.patch.removeAll(keepingCapacity: false) }
      wantsState = isDue || isFirstRecorded
    }
    if wantsState { recordState(record, recorder) }
  }

  private static var maximumReusedPatchBytes: Int { 4 << 10 }

  private func recordState(_ record: StoreRecord<Machine>, _ recorder: any StoreRecorder) {
    guard let state = Self.showsState ? published : record.state else { return }
    recorder.stateChanged(state, revision: revision)
  }

  /// True if listeners hold the state itself, as `DurableMachine` describes.
  private static var showsState: Bool { Machine.State.self == Machine.ViewState.self }
}
