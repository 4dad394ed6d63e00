// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@testable import StateMachines

/// Tests of the calls that a store makes to its recorder, and of a store that is restored from
/// them.
@Suite("Durable stores")
struct DurableTests {
  @Test("the recorded state and the patches after it lead to the current state at any time")
  func patches() async throws {
    var generator = SeededGenerator(seed: 7)
    var inputs: [Diary.Input] = []
    for _ in 1...300 {
      let id = "\(generator.below(40))"
      inputs.append(
        [.note(id: id), .strike(id: id), .count, .nothing, .several][generator.below(5)])
    }
    let bench = try await Bench(Diary())
    try await bench.do { [inputs] _, store in
      let notes = Notes()
      let isDurable = store.prepareRecord(scope: "diary", epoch: 8)
      #expect(isDurable)
      for (index, input) in inputs.enumerated() {
        // Recording can begin at any time.
        if index == 20 { store.record(by: notes) }
        try store.send(input)
        guard index >= 20 else { continue }
        #expect(notes.revision == store.revision)
        let state = try JSON.value(store.state)
        #expect(notes.state == state)
        let back = try Store(
          restoring: Diary(), number: StoreNumber(1), host: bench, revision: notes.revision,
          lastOperation: store.lastOperation, state: notes.state)
        #expect(try JSON.value(back.state) == state)
        #expect(back.revision == store.revision)
      }
      // An action that changes nothing is not recorded; an action that changes only hidden state
      // is.
      #expect(notes.isWhole && notes.hidden > 0)
    }
  }

  @Test("an operation id is unique, also after a restart, and effects receive it")
  func numbers() async throws {
    let bench = try await Bench(Diary())
    let waiting = try await bench.do { _, store in
      try store.send(.sign)
      #expect(store.state.signatures == ["none"])
      #expect(store.prepareRecord(scope: "diary", epoch: 8))
      let notes = Notes()
      store.record(by: notes)
      try store.send(.sign)
      try store.send(.signLater)
      #expect(store.state.signatures == ["none", "diary#8.2"])
      #expect(notes.accepted.map(\.operation) == [3])

      let back = try Store(
        restoring: Diary(), number: StoreNumber(1), host: bench,
        environment: StoreEnvironment(clock: bench.clock), revision: notes.revision,
        lastOperation: store.lastOperation, state: notes.state)
      #expect(back.prepareRecord(scope: "diary", epoch: 9))
      // No effect begins before `resume`. The effect of `resumption` comes before the restarted
      // inputs.
      #expect(back.state.signatures.count == 2)
      back.resume(areSomeLost: false)
      for accepted in notes.accepted { try back.restart(accepted) }
      #expect(
        back.state.signatures == ["none", "diary#8.2", "begin: none", "again: diary#8.3"])
      try back.send(.sign)
      #expect(back.state.signatures.last == "diary#9.5")
      // The recorded input has the operation id under which it was accepted.
      let other = Notes()
      try back.send(.signLater)
      back.record(by: other)
      #expect(other.accepted.map(\.operation) == [6] && other.accepted.map(\.epoch) == [9])
      // A recorded input that cannot be decoded is lost, and `restart` reports it.
      let unreadable = AcceptedInput(operation: 2, epoch: 8, input: Array("{".utf8), age: .zero)
      back.resume(areSomeLost: true)
      #expect(throws: JSONError.self) { try back.restart(unreadable) }
      // The action of `interruption` is folded first.
      #expect(back.state.signatures.suffix(2) == ["lost", "begin: none"])
      return store.close() + back.close()
    }
    for work in waiting { await work.value }
  }

  @Test("the store records an input while it has unfinished effects, and records its end")
  func accepted() async throws {
    let bench = try await Bench(Diary())
    let result = try #require(
      try await bench.do { _, store in
        #expect(store.prepareRecord(scope: "diary", epoch: 8))
        // No recorder is attached yet.
        return try store.send(.signLater)
      })
    await bench.do { _, store in
      let notes = Notes()
      store.record(by: notes)
      #expect(notes.accepted.map(\.operation) == [1])
      #expect(String(decoding: notes.accepted[0].input, as: UTF8.self) == #"{"type":"signLater"}"#)
      store.cancel(result.inputID)
      #expect(notes.accepted.isEmpty)
    }
  }

  @Test("a machine that is not durable is neither recorded nor restored")
  func undurable() async throws {
    let bench = try await Bench(ControlledMachine(effects: [:]))
    await bench.do { bench, store in
      #expect(!store.prepareRecord(scope: "machine", epoch: 8))
      #expect(throws: JSONError.self) {
        _ = try Store(
          restoring: ControlledMachine(effects: [:]), number: StoreNumber(1), host: bench,
          revision: 1,
          lastOperation: 0, state: [:])
      }
    }
  }
}

/// A list with some state that is not in the view state.
private struct Diary: DurableMachine {
  enum Input: Codable, Sendable {
    case note(id: String)
    case strike(id: String)
    /// Changes only hidden state.
    case count
    case nothing
    case several
    case sign
    case signLater
  }

  enum Action: Sendable {
    case note(String)
    case strike(String)
    case count
    case nothing
    case sign(String)
  }

  struct State: Codable, Sendable {
    var items: KeyedList<Entry> = []
    var hidden = 0
    var signatures: [String] = []
  }

  struct Entry: Codable, Identifiable, Sendable {
    let id: String
    var count = 1
  }

  struct ViewState: Encodable, Sendable {
    var items: KeyedList<Entry>
    var signatures: [String]
  }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .note(let id): .action(.note(id))
    case .strike(let id): .action(.strike(id))
    case .count: .action(.count)
    case .nothing: .action(.nothing)
    case .several: .several(.action(.count), .action(.note("a")), .action(.strike("a")))
    case .sign: sign("")
    case .signLater: .after(.seconds(60), sign("later: "))
    }
  }

  private func sign(_ prefix: String) -> Effect<Action> {
    // The wrappers must pass the operation id to the effect.
    .identified { .action(.sign(prefix + ($0?.description ?? "none"))) }
      .compactMap { $0 }.cancellable("sign")
  }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    sign("again: ")
  }

  func resumption(in state: State) -> Effect<Action> { sign("begin: ") }

  func interruption(in state: State) -> Action? { .sign("lost") }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .note(let id):
      if !state.items.update(id: id, { $0.count += 1 }) { state.items.append(Entry(id: id)) }
    case .strike(let id): state.items.remove(id: id)
    case .count: state.hidden += 1
    case .nothing: break
    case .sign(let name): state.signatures.append(name)
    }
  }

  func view(of state: State) -> ViewState {
    ViewState(items: state.items, signatures: state.signatures)
  }
}

/// Keeps the calls that it receives from the store.
private final class Notes: StoreRecorder {
  private(set) var state = JSONValue.null
  private(set) var revision = -1
  private(set) var accepted: [AcceptedInput] = []
  /// True if every call could be decoded and every patch had operations.
  private(set) var isWhole = true
  /// The number of changes that did not change the view state.
  private(set) var hidden = 0

  func stateChanged(_ state: JSONEncodedState, revision: Revision) {
    do { self.state = try JSONValue(parsing: state.wholeText) } catch { isWhole = false }
    self.revision = revision
  }

  func folded(_ patch: UnsafeRawBufferPointer, revision: Revision) -> Bool {
    do {
      let patch = try JSONPatch(JSONValue(parsing: patch))
      if patch.isEmpty { isWhole = false }
      state = try patch.apply(to: state)
    } catch {
      isWhole = false
    }
    if revision == self.revision { hidden += 1 }
    self.revision = revision
    return hidden.isMultiple(of: 5)
  }

  func accepted(_ input: [UInt8], operation: UInt64, epoch: UInt64, at time: Duration) {
    accepted.append(AcceptedInput(operation: operation, epoch: epoch, input: input, age: .zero))
  }

  func settled(operation: UInt64) { accepted.removeAll { $0.operation == operation } }
}
