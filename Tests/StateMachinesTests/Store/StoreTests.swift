// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@testable import StateMachines

@Suite("Store")
struct StoreTests {
  // MARK: Publications

  @Test("a listener receives the current value immediately, then every later one")
  func currentValue() async throws {
    let bench = try await Bench(ControlledMachine())
    try await bench.send("a")
    try await bench.send("b")
    let late = Record<String>()
    await bench.do { _, store in
      _ = store.listen { late.add(Bench<ControlledMachine>.text(of: $0)) }
    }
    try await bench.send("c")
    #expect(
      bench.published == [
        #"0 {"notes":[],"weight":0}"#,
        #"0 1 [{"op":"add","path":"/notes/0","value":"a"}]"#,
        #"1 2 [{"op":"add","path":"/notes/1","value":"b"}]"#,
        #"2 3 [{"op":"add","path":"/notes/2","value":"c"}]"#,
      ])
    #expect(
      late.all == [
        #"2 {"notes":["a","b"],"weight":0}"#,
        #"2 3 [{"op":"add","path":"/notes/2","value":"c"}]"#,
      ])
  }

  @Test("listeners are called in the order in which they were added, also after one was removed")
  func listeners() async throws {
    let bench = try await Bench(ControlledMachine())
    let calls = Record<String>()
    try await bench.do { _, store in
      let ids = ["x", "y", "z"].map { name in
        store.listen { if $0.base != nil { calls.add("\(name)\($0.revision)") } }
      }
      try store.send("a")
      store.stopListening(ids[1])
      store.stopListening(ids[1])
      try store.send("b")
    }
    #expect(calls.all == ["x1", "y1", "z1", "x2", "z2"])
  }

  @Test("a listener that another one removes is not called again, and a new one is called once")
  func listenersFromInside() async throws {
    // Regression: a removed listener was still called for the current publication.
    let bench = try await Bench(ControlledMachine())
    let calls = Record<String>()
    try await bench.do { _, store in
      var second: ListenerID?
      _ = store.listen { [unowned store] publication in
        guard publication.base != nil, let stopped = second else { return }
        store.stopListening(stopped)
        second = nil
        _ = store.listen { calls.add("new \($0.base ?? -1) \($0.revision)") }
      }
      second = store.listen { if $0.base != nil { calls.add("second \($0.revision)") } }
      try store.send("a")
      try store.send("b")
    }
    #expect(calls.all == ["new -1 1", "new 1 2"])
  }

  @Test("a listener that reads the store gets the state of the publication")
  func afterTheWrite() async throws {
    let bench = try await Bench(ControlledMachine())
    let seen = Record<String>()
    try await bench.do { _, store in
      _ = store.listen { [unowned store] publication in
        var fromStore = JSONWriter()
        store.writeState(to: &fromStore)
        var fromPublication = JSONWriter()
        publication.writeState(to: &fromPublication)
        #expect(fromStore.bytes() == fromPublication.bytes())
        #expect(store.revision == publication.revision)
        seen.add(store.state.notes.joined())
      }
      try store.send("a")
      try store.send("b")
    }
    #expect(seen.all == ["", "a", "ab"])
  }

  @Test("an action causes at most one publication, and none if the view state does not change")
  func onePerAction() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "three": { _ in .several(.action(.note("x")), .action(.hide(3)), .action(.note("y"))) },
        "hidden": { state in .action(.hide(state.hidden + 1)) },
        "nothing": { _ in .none },
        "same": { state in .action(.weigh(state.weight)) },
      ]))
    let three = try await bench.send("three")
    #expect(three?.revision == 2 && three?.changed == true && three?.isSettled == true)
    for name in ["hidden", "nothing", "same"] {
      let result = try await bench.send(.init(stringLiteral: name))
      #expect(result?.revision == 2 && result?.changed == false && result?.isSettled == true)
    }
    #expect(bench.published.count == 3)
    #expect(await bench.do { $1.state.hidden } == 4)
  }

  @Test(
    "a store that has published nothing in a turn keeps no buffers", arguments: ["same", "NaN"])
  func unpublished(input: String) async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "same": { state in .action(.weigh(state.weight)) },
        "NaN": { _ in .action(.weigh(.nan)) },
      ]))
    _ = try? await bench.send(.init(stringLiteral: input))
    #expect(await bench.do { $1.revision == 0 && $1.buffers == nil })
    try await bench.send("note")
    await bench.do { _, store in
      #expect(store.revision == 1 && store.buffers != nil)
      store.dropBuffers()
      #expect(store.buffers == nil)
    }
  }

  @Test("strings are compared by their bytes")
  func bytes() async throws {
    let bench = try await Bench(Relabel())
    try await bench.send(.init(text: "caf\u{e9}"))
    try await bench.send(.init(text: "cafe\u{301}"))
    try await bench.send(.init(text: "cafe\u{301}"))
    #expect(await bench.do { $1.revision } == 2)
  }

  @Test("a state that cannot be encoded is rolled back, and the sender of the input gets an error")
  func notEncodable() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "NaN": { _ in .several(.action(.weigh(.nan)), .action(.note("unseen"))) },
        "1": { _ in .action(.weigh(1)) },
      ]))
    let error = await #expect(throws: StoreError.self) { try await bench.send("NaN") }
    guard case .unencodable(let error) = error else {
      Issue.record("expected the error unencodable")
      return
    }
    #expect(error.pathDescription == "/weight")
    let late = Record<String>()
    await bench.do { _, store in
      _ = store.listen { late.add(Bench<ControlledMachine>.text(of: $0)) }
    }
    #expect(late.all == [#"0 {"notes":[],"weight":0}"#])
    // The action after it was not folded either.
    try await bench.send("1")
    #expect(bench.published.count == 2)
    #expect(bench.published.last == #"0 1 [{"op":"replace","path":"/weight","value":1}]"#)
  }

  @Test("a store whose initial state cannot be encoded is not created")
  func notEncodableAtFirst() async throws {
    await #expect(throws: JSONError.self) {
      try await Bench(ControlledMachine(initialState: .init(weight: .infinity)))
    }
  }

  @Test("revisions continue from those of an earlier store with the same name")
  func revision() async throws {
    let bench = try await Bench(ControlledMachine(), revision: 41)
    #expect(bench.published == [#"41 {"notes":[],"weight":0}"#])
    #expect(try await bench.send("a")?.revision == 42)
    #expect(bench.published.last?.hasPrefix("41 42 ") == true)
  }

  @Test("each patch leads from one state to the next", arguments: 1...10 as ClosedRange<UInt64>)
  func differences(seed: UInt64) async throws {
    let bench = try await Bench(Boards())
    let documents = Record<JSONValue>()
    await bench.do { _, store in
      var document = JSONValue.null
      _ = store.listen { [unowned store] publication in
        do {
          var state = JSONWriter()
          publication.writeState(to: &state)
          let expected = try JSONValue(parsing: state.bytes())
          if let text = publication.patch {
            let patch = try JSONPatch(JSONValue(parsing: [UInt8](text)))
            #expect(try patch.apply(to: document) == expected, "seed \(seed)")
            #expect(document != expected, "seed \(seed)")
          }
          #expect(try JSON.value(store.state) == expected, "seed \(seed)")
          document = expected
          documents.add(expected)
        } catch {
          Issue.record(error)
        }
      }
    }
    for step in 0..<200 { try await bench.send(.init(step: step, seed: seed)) }
    #expect(await bench.do { $1.revision } == documents.count - 1)
    #expect(documents.count > 50)
  }

  // MARK: No re-entrancy

  @Test("an input that is sent from inside a publication is queued and folded right after it")
  func reentrancy() async throws {
    let bench = try await Bench(
      ControlledMachine(effects: [
        "both": { _ in .several(.action(.note("1")), .action(.note("2"))) }
      ]))
    let seen = Record<String>()
    let result = try await bench.do { _, store in
      _ = store.listen { [unowned store] publication in
        if publication.revision == 1, publication.base != nil {
          let inner = try? store.send("inner")
          #expect(inner == nil)
        }
        seen.add(store.state.notes.joined(separator: " "))
      }
      return try store.send("both")
    }
    #expect(seen.all == ["", "1", "1 2", "1 2 inner"])
    #expect(result?.revision == 3)
  }

  @Test("an input that is sent from inside the first call of a listener is queued too")
  func reentrancyAtFirst() async throws {
    // Regression: the listener was called for the next state before its first call had returned.
    let bench = try await Bench(ControlledMachine())
    let calls = Record<String>()
    await bench.do { _, store in
      _ = store.listen { [unowned store] publication in
        calls.add("\(publication.revision) begins")
        if publication.base == nil { _ = try? store.send("a") }
        calls.add("\(publication.revision) ends")
      }
    }
    #expect(calls.all == ["0 begins", "0 ends", "1 begins", "1 ends"])
  }

  @Test("a store accepts inputs before it has a listener")
  func early() async throws {
    let host = NoHost()
    try await host.run {
      let store = try Store(ControlledMachine(), number: StoreNumber(1), host: $0)
      try store.send("early")
      var state = JSONWriter()
      store.writeState(to: &state)
      #expect(state.string() == #"{"notes":["early"],"weight":0}"#)
    }
  }

  // MARK: Inputs as text

  @Test(
    "inputs are decoded from JSON text, and an error names the code and the path",
    arguments: [
      (#"{"type":"incrementTapped"}"#, nil, nil),
      (#"{"later":[{}],"type":"incrementTapped","x":null}"#, nil, nil),
      (#"{"type":"addTapped","amount":5}"#, nil, nil),
      (#"{"type":"x"}"#, JSONError.Code.value, "/type"),
      (#"{"amount":5}"#, .missing, "/type"),
      (#"{"type":5}"#, .type, "/type"),
      (#"{"type":"addTapped"}"#, .missing, "/amount"),
      (#"{"type":"addTapped","amount":"5"}"#, .type, "/amount"),
      (#"{"type":"addTapped","amount":null}"#, .type, "/amount"),
      (#"[]"#, .type, ""),
    ] as [(String, JSONError.Code?, String?)])
  func reading(text: String, code: JSONError.Code?, path: String?) async throws {
    let bench = try await Bench(Adder())
    let (error, revision) = await bench.do { _, store in
      let refusal = Self.refusal(of: text, by: store)
      guard case .undecodable(let error)? = refusal else {
        return (nil as JSONError?, store.revision)
      }
      return (error, store.revision)
    }
    #expect(error?.code == code)
    #expect(error?.pathDescription == path)
    #expect(revision == (code == nil ? 1 : 0))
  }

  /// Returns the error with which a store refuses an input in JSON; nil if the store accepts it.
  private static func refusal(of text: String, by store: any AnyStore) -> InputError? {
    Array(text.utf8).withUnsafeBytes { bytes in
      var reader = JSONReader(bytes)
      do throws(InputError) {
        _ = try store.send(reading: &reader, from: .server)
        return nil
      } catch {
        return error
      }
    }
  }

  // MARK: Closing

  @Test("a closed store refuses inputs with an error")
  func closed() async throws {
    let bench = try await Bench(ControlledMachine())
    try await bench.do { _, store in
      try store.send("a")
      #expect(store.close().isEmpty)
      #expect(store.close().isEmpty)
      #expect(throws: StoreError.closed) { try store.send("b") }
      guard case .closed? = Self.refusal(of: #"{"name":"b"}"#, by: store) else {
        Issue.record("the closed store accepted an input")
        return
      }
      #expect(store.revision == 1)
    }
    #expect(bench.published.count == 2)
  }

  @Test("a store that is closed from inside a publication performs no further action or effect")
  func closedFromInside() async throws {
    // Regression: work after the action was begun, and nothing could end it.
    let began = Record<String>()
    let bench = try await Bench(
      ControlledMachine(effects: [
        "go": { _ in
          .several(
            .action(.note("1")), .action(.note("2")), .run("work") { _ in began.add("work") })
        }
      ]))
    let calls = Record<Int>()
    try await bench.do { _, store in
      _ = store.listen { [unowned store] publication in
        guard publication.base != nil else { return }
        _ = try? store.send("queued")
        store.close()
      }
      _ = store.listen { calls.add($0.revision) }
      let result = try #require(try store.send("go"))
      #expect(result.revision == 1 && result.changed && result.isSettled)
      #expect(store.state.notes == ["1"])
      #expect(store.close().isEmpty)
    }
    #expect(calls.all == [0])
    #expect(began.all == [])
  }
}

// MARK: - Machines

/// Sets a text.
private struct Relabel: StateMachine {
  struct Input: Decodable, Sendable { var text: String }
  struct State: Codable, Sendable { var text = "" }
  let initialState = State()
  func effect(of input: Input, in state: State) -> Effect<String> { .action(input.text) }
  func reduce(_ state: inout State, _ action: String) { state.text = action }
}

private struct Adder: StateMachine {
  enum Input: Codable, Sendable {
    case incrementTapped
    case addTapped(amount: Int)
  }
  struct State: Codable, Sendable { var count = 0 }
  let initialState = State()
  func effect(of input: Input, in state: State) -> Effect<Int> {
    switch input {
    case .incrementTapped: .action(1)
    case .addTapped(let amount): .action(amount)
    }
  }
  func reduce(_ state: inout State, _ action: Int) { state.count += action }
}

/// A state with a list next to other members, and a list inside an optional.
private struct Board: Codable, Sendable {
  struct Item: Codable, Identifiable, Sendable {
    let id: String
    var title: String
    /// Sometimes NaN, which JSON cannot represent.
    var weight: Double?
  }

  var title = "A board"
  var list = KeyedList((1...30).map { Item(id: "\($0)", title: "") })
  var second: KeyedList<Item>?

  /// Changes something, in ways that are common in stores.
  mutating func change(_ step: Int, _ random: inout SeededGenerator) {
    let id = "\(random.below(40))"
    switch random.below(10) {
    case 0: title = ["caf\u{e9}", "cafe\u{301}", "\(step)"][random.below(3)]
    case 1: second = random.below(2) == 0 ? nil : list
    case 2:
      guard let other = second else { return }
      (list, second) = (other, list)
    case 3:
      // Loaded again, in another order.
      list = KeyedList(Array(list).shuffled(using: &random))
    case 4: list.update(id: id) { $0.weight = [.nan, 1, nil][random.below(3)] }
    case 5: list.update(id: id) { $0.title = "\(step)" }
    case 6: list.move(id: id, before: "\(random.below(40))")
    case 7: list.remove(id: id)
    default: list.insert(Item(id: id, title: "\(step)"), at: random.below(list.count + 1))
    }
  }
}

/// Changes a board at random.
private struct Boards: StateMachine {
  struct Input: Codable, Sendable {
    var step: Int
    var seed: UInt64
  }
  let initialState = Board()
  func effect(of input: Input, in state: Board) -> Effect<Input> { .action(input) }
  func reduce(_ state: inout Board, _ action: Input) {
    var random = SeededGenerator(seed: action.seed << 32 + UInt64(action.step))
    state.change(action.step, &random)
  }
}

/// A host whose stores have no effects.
actor NoHost: StoreHost {
  func deliver(_ message: EffectMessage) { Issue.record("a store without work sent a message") }
  func run(_ body: @Sendable (isolated NoHost) throws -> Void) rethrows {
    try body(self)
  }
}
