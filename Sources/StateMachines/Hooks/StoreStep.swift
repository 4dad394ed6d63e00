// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A step of a store, as the test that drives the store receives it: synchronously and in order.
package enum StoreStep<Machine: StateMachine> {
  /// An action was folded; the state of the store is the one after it.
  case action(Machine.Action)
  /// An event has happened.
  case event(Machine.Event)
  /// Work has refused its input.
  case refusal(InputRefusal)
  /// The state after an action cannot be encoded, and was taken back.
  case failed(StoreError)
  /// A feed has not begun, because a feed with its id runs.
  case runsAlready(EffectID)
}

extension Store {
  /// Creates a store for tests. No effect begins before `beginInitialEffect`.
  ///
  /// - Throws: `StoreError.unencodable` if the view of the state cannot be encoded, or if the machine
  ///   cannot be composed.
  package convenience init(
    testing machine: Machine, in state: Machine.State, number: StoreNumber, host: any StoreHost,
    environment: StoreEnvironment
  ) throws(StoreError) {
    do throws(JSONError) {
      try self.init(
        machine, number: number, host: host, environment, hooks: [], revision: 0, lastOperation: 0,
        state: state)
    } catch {
      throw .unencodable(error)
    }
  }

  /// Performs the initial effect of the machine.
  package func beginInitialEffect() { begin(running.composed.initialEffect(in: state)) }

  /// Returns the reason for which the machine or a child of it refuses an input.
  package func refusal(of input: Machine.Input, from viewer: Viewer) -> InputRefusal? {
    running.refusal(of: input, from: viewer)
  }

  /// Sends all later steps to a test.
  package func test(_ test: @escaping (StoreStep<Machine>) -> Void) {
    observers = observers ?? Observers()
    observers?.test = test
  }

  /// The names of the work that has not ended, in the order in which it began. Feeds are not
  /// included: they end with their store.
  package var runningNames: [String] { runner.running.map(\.operation.name) }

  /// True if no work runs that could send an action.
  package var isIdle: Bool { runner.isIdle }
}
