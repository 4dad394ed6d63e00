// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StateMachines
internal import StatewireJSON

extension StoreKind {
  /// Creates a kind whose machine is a program in another language.
  ///
  /// - Parameters:
  ///   - name: The name in `store/open`.
  ///   - programs: Processes of the program; not empty. New stores are divided between them.
  ///   - scope: The sessions that use one store.
  public init(_ name: String, programs: [StoreProgram], scope: StoreScope) {
    let turn = Lock(0)
    @Sendable func next() -> StoreProgram {
      turn.withLock { turn in
        turn = (turn + 1) % programs.count
        return programs[turn]
      }
    }
    self.init(
      preparing: name, scope: scope,
      checkInitialState: {},
      checkState: { state, _ throws(JSONError) in
        _ = try JSON.decode(ProcessState.self, from: state)
      },
      describe: { schemas in programs[0].description.described(in: schemas, kind: name) },
      preparing: { configuration, store, viewer, clock in
        {
          await Opening(configuration, store: store, viewer: viewer, clock: clock, in: next()).run()
        }
      },
      make: { configuration, parameters throws(JSONError) in
        let opened =
          parameters.prepared as? OpenedStore
          ?? OpenedStore(
            restoring: parameters.store, configuration, parameters.restored, in: next())
        if opened.viewKey == nil {
          return try parameters.made(ProcessMachine<Everyone>(opened))
        }
        return try parameters.made(ProcessMachine<KeyedAudience>(opened))
      })
    problem = { programs.lazy.compactMap(\.problem).first }
  }
}

/// A store that a program has opened.
private struct OpenedStore: Sendable {
  let store: ProgramStore
  let state: ProcessState
  let viewKey: ViewKey?

  init(_ store: ProgramStore, _ state: ProcessState) {
    (self.store, self.state, viewKey) = (store, state, state.viewKey)
  }

  /// A store that continues from the state that the journal has.
  init(
    restoring name: String, _ configuration: JSONValue, _ restored: JSONValue?,
    in program: StoreProgram
  ) {
    let setup = StoreSetup(
      number: program.nextNumber(), name: name, configuration: JSONText(configuration.bytes))
    store = ProgramStore(setup, in: program)
    viewKey = restored?["viewKey"]?.string.flatMap(ViewKey.init)
    state = ProcessState(
      version: 0, state: .empty, view: nil, views: [:], pending: [], viewKey: viewKey)
  }
}

/// A request to open a store in a program.
private struct Opening {
  let program: StoreProgram
  let setup: StoreSetup
  let configuration: JSONValue
  let viewer: Viewer
  let clock: any StoreClock

  init(
    _ configuration: JSONValue, store: String, viewer: Viewer, clock: any StoreClock,
    in program: StoreProgram
  ) {
    (self.program, self.configuration) = (program, configuration)
    (self.viewer, self.clock) = (viewer, clock)
    setup = StoreSetup(
      number: program.nextNumber(), name: store, configuration: JSONText(configuration.bytes))
  }

  func run() async -> Result<any Sendable, JSONError> {
    do throws(JSONError) {
      try JSON.checkNumbers(of: setup.configuration)
      try program.description.configuration?.check(configuration)
    } catch {
      return .failure(error)
    }
    let store = ProgramStore(setup, in: program)
    switch await program.open(setup, by: viewer, now: clock.milliseconds) {
    case .success(let state):
      return .success(OpenedStore(store, state))
    case .failure(let refusal):
      return .failure(
        JSONError(.init(refusal.code), refusal.message, path: refusal.path.map { .key($0) }))
    }
  }
}

extension ProcessMachine {
  fileprivate init(_ opened: OpenedStore) {
    self.init(store: opened.store, viewKey: opened.viewKey, initialState: opened.state)
  }
}

extension StoreKind.StoreParameters {
  fileprivate func made<Audience>(
    _ machine: ProcessMachine<Audience>
  ) throws(JSONError) -> StoreKind.Made {
    let hooks = observers.compactMap { $0.hook(for: machine, store: observed) }
    return try self.store(of: machine, hooks: hooks)
  }
}
