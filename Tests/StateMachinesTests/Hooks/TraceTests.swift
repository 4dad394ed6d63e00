// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

@Suite("Traces")
struct TraceTests {
  /// A machine with secret values in its inputs, actions, state and events.
  private struct Vault: StateMachine {
    enum Input: Codable, Sendable {
      case unlock(password: String)
      case lock
    }
    enum Action: Sendable {
      case unlocked(with: String)
      case locked
    }
    struct State: Codable, Sendable { var key = "" }
    struct Event: Codable, Sendable { var key: String }

    let initialState = State()

    func effect(of input: Input, in state: State) -> Effect<Action> {
      switch input {
      case .unlock(let password):
        .several(
          Effect.action(.unlocked(with: password)).operation("open", failing: .locked) {
            if case .locked = $0 { true } else { false }
          },
          .run("turn") { context in
            let key = await context.operation("find", failing: "", when: \.isEmpty) { password }
            await context.send(.unlocked(with: key))
          })
      case .lock: .action(.locked)
      }
    }

    func reduce(_ state: inout State, _ action: Action) {
      switch action {
      case .unlocked(let key): state.key = key
      case .locked: state.key = ""
      }
    }

    func event(of action: Action, in state: State) -> Event? { Event(key: state.key) }
  }

  @Test("a trace names inputs, actions and operations, and contains no values")
  func namesOnly() async throws {
    let records = Record<TraceRecord>()
    let bench = try await Bench(Vault())
    await bench.do { _, store in store.trace { records.add($0) } }
    try await bench.send(.unlock(password: "hunter2"), noting: "unlock")
    await bench.reaches(notes: 1)
    try await bench.send(.lock)
    await bench.end()
    #expect(records.all.contains { $0.input == "unlock" })
    #expect(records.all.contains { $0.input == "lock" })
    #expect(records.all.contains { $0.action == "unlocked" })
    #expect(records.all.contains { $0.action == "locked" })
    #expect(records.all.contains { $0.operation.stage == .part })
    let text = records.all.map { "\($0)" }.joined()
    #expect(!text.contains("hunter2"))
  }

  @Test("a trace shows the order of operations and the revision at each step")
  func order() async throws {
    let records = Record<String>()
    let bench = try await Bench(Vault())
    await bench.do { _, store in
      store.trace { records.add("\($0.revision) \($0.operation.stage.rawValue) \($0.words)") }
    }
    try await bench.send(.lock)
    try await bench.send(.unlock(password: "x"), noting: "unlock")
    await bench.reaches(notes: 1)
    await bench.do { _, store in store.trace(nil) }
    #expect(
      records.all == [
        "0 input input began", "0 input input asked, lock", "0 input input gave locked",
        "0 action actions gave locked", "0 input input finished",
        "0 input input began", "0 input input asked, unlock", "0 operation open began",
        "0 operation open asked", "0 operation open gave unlocked", "0 input input gave unlocked",
        "0 action actions gave unlocked", "1 state states gave a state",
        "1 operation open finished", "1 operation turn began", "1 operation turn asked",
        "1 part find began", "1 part find asked", "1 part find finished",
        "1 operation turn gave unlocked", "1 action actions gave unlocked",
        "1 operation turn finished", "1 input input finished",
      ])
  }

  @Test("a trace can be turned on and off while the store runs")
  func onAndOff() async throws {
    let records = Record<String>()
    let bench = try await Bench(Vault())
    try await bench.send(.lock)
    await bench.do { _, store in store.trace { records.add($0.words) } }
    try await bench.send(.lock)
    #expect(records.count == 5)
    await bench.do { _, store in store.trace(nil) }
    try await bench.send(.lock)
    #expect(records.count == 5)
    await bench.do { _, store in store.trace { records.add("again, \($0.words)") } }
    try await bench.send(.lock)
    await bench.end()
    #expect(records.count == 12)
    #expect(records.all[5...].allSatisfy { $0.hasPrefix("again") })
  }

  @Test("a closed store traces nothing")
  func closed() async throws {
    let records = Record<String>()
    let bench = try await Bench(Vault())
    await bench.end()
    await bench.do { _, store in store.trace { records.add($0.words) } }
    _ = try? await bench.send(.lock)
    #expect(records.all == [])
  }

  // MARK: Names of cases

  private enum Plain: String { case one, two }
  private enum Loaded {
    case empty
    case labelled(secret: String)
    case unlabelled(String)
    case two(String, Int)
    indirect case nested(Loaded)
  }
  private enum Talkative: CustomStringConvertible {
    case quiet
    case loud(String)
    var description: String { "secret" }
  }
  private enum Debugging: CustomDebugStringConvertible {
    case quiet
    var debugDescription: String { "secret" }
  }
  private enum Reflecting: CustomReflectable {
    case loud(String)
    var customMirror: Mirror {
      Mirror(self, children: ["secret": 1], displayStyle: .enum)
    }
  }
  private struct Named { var secret = "secret" }
  private struct Describing: CustomStringConvertible { var description: String { "secret" } }

  @Test("`caseName` returns the name of a case, and for any other value the name of its type")
  func names() {
    #expect(caseName(of: Plain.two) == "two")
    #expect(caseName(of: Loaded.empty) == "empty")
    #expect(caseName(of: Loaded.labelled(secret: "secret")) == "labelled")
    #expect(caseName(of: Loaded.unlabelled("secret")) == "unlabelled")
    #expect(caseName(of: Loaded.two("secret", 1)) == "two")
    #expect(caseName(of: Loaded.nested(.unlabelled("secret"))) == "nested")
    #expect(caseName(of: Talkative.quiet) == "Talkative")
    #expect(caseName(of: Talkative.loud("secret")) == "loud")
    #expect(caseName(of: Debugging.quiet) == "Debugging")
    #expect(caseName(of: Reflecting.loud("secret")) == "Reflecting")
    #expect(caseName(of: Named()) == "Named")
    #expect(caseName(of: Describing()) == "Describing")
    #expect(caseName(of: "secret") == "String")
    #expect(caseName(of: 7) == "Int")
    #expect(caseName(of: Optional("secret") as Any) == "Optional<String>")
  }
}
