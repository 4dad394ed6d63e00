// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@testable import StateMachines

@Suite("Exchanges")
struct ExchangeTests {
  /// A machine whose inputs another party carries out.
  private struct Machine: StateMachine {
    struct State: Codable, Sendable { var texts: [String] = [] }
    enum Action: Sendable {
      case said(String)
      case asked(String)
    }

    let initialState = State()
    let party: Party

    func effect(of input: String, in state: State) -> Effect<Action> {
      .several(input.split(separator: ",").map { ask(String($0)) })
    }

    func reduce(_ state: inout State, _ action: Action) {
      guard case .said(let text) = action else { return }
      if text == "never mind" { state.texts.removeLast() } else { state.texts.append(text) }
    }

    func effect(after action: Action, in state: State) -> Effect<Action> {
      switch action {
      case .asked(let text): ask(text)
      case .said(let text): text.hasSuffix("?") ? .action(.asked(String(text.dropLast()))) : .none
      }
    }

    private func ask(_ text: String) -> Effect<Action> {
      .exchange("ask") { [party] in party.asked(text, $0) }
    }
  }

  /// The other party: keeps the questions until the test replies.
  private final class Party: Sendable {
    private let open = Lock<[(text: String, reply: ExchangeReply<Machine.Action>)]>([])

    func asked(_ text: String, _ reply: ExchangeReply<Machine.Action>) {
      open.withLock { $0.append((text, reply)) }
    }

    var texts: [String] { open.withLock { $0.map(\.text) } }

    /// The message that ends the oldest exchange.
    func next(saying text: String?, refusing refusal: InputRefusal? = nil) -> EffectMessage {
      open.withLock { $0.removeFirst().reply.message(text.map { .said($0) }, refusing: refusal) }
    }
  }

  private func record(_ completion: Completion, _ store: any AnyStore) -> String {
    let end =
      switch completion.end {
      case .settled: "settled"
      case .closed: "closed"
      case .refused(let refusal): "refused \(refusal.message)"
      }
    return
      "\(end) at \(completion.revision)\(completion.base.map(store.hasChanged) == true ? ", changed" : "")"
  }

  /// Returns what `body` logs about a store whose inputs a party carries out.
  private func log(
    _ body: @Sendable (Store<Machine>, Party, Record<String>) throws -> Void
  ) async throws -> [String] {
    let (party, log) = (Party(), Record<String>())
    try await Bench(Machine(party: party)).do { _, store in try body(store, party, log) }
    return log.all
  }

  @Test("the reply ends the wait of an input, and its action is folded before")
  func reply() async throws {
    let log = try await log { store, party, log in
      let sent = try #require(try store.send("a"))
      #expect(!sent.isReplied && !sent.isSettled && !sent.changed)
      store.whenReplied(sent.inputID) { log.add(record($0, store)) }
      store.receive(party.next(saying: "A"))
      #expect(store.state.texts == ["A"])
    }
    #expect(log == ["settled at 1, changed"])
  }

  /// A machine whose input has an exchange and other work.
  private struct Mixed: StateMachine {
    struct State: Codable, Sendable { var count = 0 }
    let initialState = State()
    let party: Party

    func effect(of input: String, in state: State) -> Effect<Machine.Action> {
      .several([
        .exchange("ask") { [party] in party.asked(input, $0) },
        .after(.seconds(1), .action(.asked(""))),
      ])
    }

    func reduce(_ state: inout State, _ action: Machine.Action) {
      if case .asked = action { state.count += 1 }
    }
  }

  @Test(
    "a response at the end of all effects counts the changes by effects beside an exchange")
  func mixed() async throws {
    let party = Party()
    let bench = try await Bench(Mixed(party: party))
    let log = Record<String>()
    try await bench.do { _, store in
      let sent = try #require(try store.send("a"))
      store.respondsAtEnd(of: sent.inputID)
      store.whenSettled(sent.inputID) { log.add(record($0, store)) }
      store.receive(party.next(saying: nil))
    }
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(revision: 1)
    #expect(log.all == ["settled at 1, changed"])
  }

  private struct Queued: StateMachine {
    struct State: Codable, Sendable {}
    let initialState = State()
    let party: Party

    func effect(of input: String, in state: State) -> Effect<Machine.Action> {
      input == "cancel"
        ? .cancel("first")
        : .exchange("ask") { [party] in party.asked(input, $0) }
          .serial("queue").cancellable(EffectID(input))
    }
    func reduce(_ state: inout State, _ action: Machine.Action) {}
  }

  @Test("an exchange that was cancelled leaves its queue when its reply comes")
  func cancelled() async throws {
    let party = Party()
    let bench = try await Bench(Queued(party: party))
    try await bench.do { _, store in
      for text in ["first", "second", "cancel"] { try store.send(text) }
      #expect(party.texts == ["first"])
      store.receive(party.next(saying: nil))
      #expect(party.texts == ["second"])
    }
  }

  @Test("exchanges begin in the order of the inputs, and each reply ends its own")
  func order() async throws {
    let log = try await log { store, party, log in
      for text in ["a", "b", "c"] {
        let sent = try #require(try store.send(text))
        store.whenReplied(sent.inputID) { log.add("\(text) \(record($0, store))") }
      }
      #expect(party.texts == ["a", "b", "c"])
      store.receive(party.next(saying: "A"))
      store.receive(party.next(saying: nil))
      store.receive(party.next(saying: "C"))
    }
    #expect(log == ["a settled at 1, changed", "b settled at 1", "c settled at 2, changed"])
  }

  @Test("the response waits for the exchanges that the reply causes")
  func chain() async throws {
    let log = try await log { store, party, log in
      let sent = try #require(try store.send("a"))
      store.whenReplied(sent.inputID) { log.add(record($0, store)) }
      store.receive(party.next(saying: "more?"))
      #expect(log.all == [])
      #expect(party.texts == ["more"])
      store.receive(party.next(saying: "done"))
    }
    #expect(log == ["settled at 2, changed"])
  }

  @Test("an input whose replies restore the state has not changed it, beside others that do")
  func restored() async throws {
    let log = try await log { store, party, log in
      func send(_ text: String) throws {
        let sent = try #require(try store.send(text))
        store.whenReplied(sent.inputID) { log.add("\(text) \(record($0, store))") }
      }
      try send("a")
      store.receive(party.next(saying: "more?"))
      store.receive(party.next(saying: "never mind"))
      for text in ["b", "c"] { try send(text) }
      store.receive(party.next(saying: "B?"))
      store.receive(party.next(saying: "C"))
      store.receive(party.next(saying: "D"))
    }
    #expect(log == ["a settled at 2", "c settled at 4, changed", "b settled at 5, changed"])
  }

  @Test("also if the replies come to exchanges that began together, and no state is kept then")
  func restoredTogether() async throws {
    let log = try await log { store, party, log in
      let sent = try #require(try store.send("a,b"))
      store.whenReplied(sent.inputID) { log.add(record($0, store)) }
      #expect(store.keptStates == 0)
      store.receive(party.next(saying: "A"))
      #expect(store.keptStates == 1)
      store.receive(party.next(saying: "never mind"))
      #expect(store.keptStates == 0)
      #expect(store.revision == 2)
    }
    #expect(log == ["settled at 2"])
  }

  @Test("a refusal is the response, and the input is settled")
  func refusal() async throws {
    let log = try await log { store, party, log in
      let sent = try #require(try store.send("a"))
      store.whenReplied(sent.inputID) { log.add(record($0, store)) }
      store.whenSettled(sent.inputID) { log.add(record($0, store)) }
      store.receive(party.next(saying: nil, refusing: InputRefusal(.value, "no")))
      #expect(store.revision == 0)
    }
    #expect(log == ["refused no at 0", "refused no at 0"])
  }

  @Test("cancelling the input does not end its exchange")
  func cancellation() async throws {
    let party = Party()
    let bench = try await Bench(Machine(party: party))
    try await bench.do { _, store in
      let sent = try #require(try store.send("a"))
      store.cancel(sent.inputID)
      store.receive(party.next(saying: "A"))
      #expect(store.state.texts == ["A"])
    }
  }

  @Test("closing the store ends the wait, and the reply is ignored")
  func closing() async throws {
    let log = try await log { store, party, log in
      let sent = try #require(try store.send("a"))
      store.whenReplied(sent.inputID) { log.add(record($0, store)) }
      store.close()
      store.receive(party.next(saying: "A"))
      #expect(store.state.texts == [])
    }
    #expect(log == ["closed at 0"])
  }
}
