// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@testable import StateMachines

/// A stopwatch that can be used alone and as a child. Its ids are the same in each use.
struct Lap: DurableMachine {
  enum Input: Codable, Sendable { case start, stop, clear, save, flip, wait }
  enum Action: Equatable, Sendable { case ticked, cleared, saved, flipped, gaveUp }
  enum Event: Encodable, Equatable, Sendable { case full(seconds: Int) }
  struct State: Codable, Equatable, Identifiable, Sendable {
    var id = ""
    var seconds = 0
    var notes: [String] = []
  }

  let initialState = State()
  var begins = false

  var initialEffect: Effect<Action> { begins ? ticks : .none }
  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .start: ticks
    case .stop: .cancel("ticks")
    case .clear: .action(.cleared)
    case .flip: .action(.flipped)
    case .save:
      .run("save") { await $0.send(.saved) }
        .operation("save", failing: .gaveUp)
    case .wait:
      .run("wait") { context in
        try? await context.sleep(for: .seconds(10))
        await context.send(.saved)
      }.onCancel(.gaveUp)
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .ticked: state.seconds += 1
    case .cleared: state.seconds = 0
    case .saved: state.notes.append("saved")
    case .flipped: state.notes.append("flipped")
    case .gaveUp: state.notes.append("gave up")
    }
  }

  func effect(after action: Action, in state: State) -> Effect<Action> {
    action == .ticked && state.seconds == 3 ? .cancel("ticks") : .none
  }
  func event(of action: Action, in state: State) -> Event? {
    action == .ticked && state.seconds == 2 ? .full(seconds: 2) : nil
  }
  func refusal(of input: Input, in state: State) -> InputRefusal? {
    if case .clear = input, state.seconds == 0 {
      InputRefusal(.value, "nothing to clear")
    } else {
      nil
    }
  }
  func isRedaction(_ action: Action) -> Bool { action == .cleared }
  func input(for phase: LifecyclePhase) -> Input? { phase == .inactive ? .stop : nil }
  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    .action(.gaveUp)
  }
  func resumption(in state: State) -> Effect<Action> { state.seconds > 0 ? ticks : .none }
  func interruption(in state: State) -> Action? { .gaveUp }

  private var ticks: Effect<Action> { .ticks("ticks", every: .seconds(1)) { .ticked } }
}

/// Two stopwatches that are always there, one that can be absent, and a list of them.
struct Race: DurableMachine {
  enum Input: Codable, Sendable {
    case left(input: Lap.Input)
    case right(input: Lap.Input)
    case extra(input: Lap.Input)
    case runner(id: String, input: Lap.Input)
    case addExtra, removeExtra
    case add(id: String)
    case remove(id: String)
    case swap(id: String, by: String)
  }
  enum Action: Equatable, Sendable {
    case left(Lap.Action)
    case right(Lap.Action)
    case extra(Lap.Action)
    case runner(String, Lap.Action)
    case set(extra: Bool)
    case added(String)
    case removed(String)
    case swapped(String, String)
    case winner(String)
  }
  enum Event: Encodable, Equatable, Sendable {
    case left(Lap.Event)
    case runner(id: String, Lap.Event)
  }
  struct State: Codable, Sendable {
    var left = Lap.State()
    var right = Lap.State()
    var extra: Lap.State?
    var runners: KeyedList<Lap.State> = []
    var winner: String?
  }

  let initialState = State()
  var childBegins = false
  var extraName = "extra"

  var children: [Child<Race>] {
    Child(
      "left", Lap(), state: \.left,
      input: CasePath(Input.left) { if case .left(let input) = $0 { input } else { nil } },
      action: CasePath(Action.left) { if case .left(let action) = $0 { action } else { nil } },
      event: { .left($0) })
    Child(
      "right", Lap(), state: \.right,
      input: CasePath(Input.right) { if case .right(let input) = $0 { input } else { nil } },
      action: CasePath(Action.right) { if case .right(let action) = $0 { action } else { nil } },
      event: { _ in nil })
    Child(
      extraName, Lap(begins: childBegins), optionalState: \.extra,
      input: CasePath(Input.extra) { if case .extra(let input) = $0 { input } else { nil } },
      action: CasePath(Action.extra) { if case .extra(let action) = $0 { action } else { nil } },
      event: { _ in nil })
    Child(
      "runners", Lap(begins: childBegins), elements: \.runners,
      input: CasePath(Input.runner) {
        if case .runner(let id, let input) = $0 { (id, input) } else { nil }
      },
      action: CasePath(Action.runner) {
        if case .runner(let id, let action) = $0 { (id, action) } else { nil }
      },
      event: { .runner(id: $0, $1) })
  }

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .left, .right, .extra, .runner: .none
    case .addExtra: .action(.set(extra: true))
    case .removeExtra: .action(.set(extra: false))
    case .add(let id): .action(.added(id))
    case .remove(let id): .action(.removed(id))
    case .swap(let id, let other): .action(.swapped(id, other))
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .left, .right, .extra, .runner: break
    case .set(let isThere): state.extra = isThere ? Lap.State() : nil
    case .added(let id): state.runners.append(Lap.State(id: id))
    case .removed(let id): state.runners.remove(id: id)
    case .swapped(let id, let other):
      state.runners.remove(id: id)
      state.runners.append(Lap.State(id: other))
    case .winner(let name): state.winner = name
    }
  }

  /// The parent reacts to an action of a child.
  func effect(after action: Action, in state: State) -> Effect<Action> {
    action == .left(.ticked) && state.left.seconds == 3 ? .action(.winner("left")) : .none
  }

  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    .none
  }
}

@Suite("Composition")
struct CompositionTests {
  @Test("two children with the same ids run and stop independently")
  func independent() async throws {
    let bench = try await Bench(Race())
    try await bench.send(.left(input: .start))
    try await bench.send(.right(input: .start))
    await bench.advance(by: 1, sleepers: 2)
    await bench.reaches(revision: 2)
    try await bench.send(.right(input: .stop))
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(revision: 3)
    #expect(await bench.do { $1.state.left.seconds } == 2)
    #expect(await bench.do { $1.state.right.seconds } == 1)
  }

  @Test("the effect of a child after its action, and that of the parent, are performed")
  func following() async throws {
    let bench = try await Bench(Race())
    try await bench.send(.left(input: .start))
    for second in 1...3 {
      await bench.advance(by: 1, sleepers: 1)
      await bench.reaches(revision: second == 3 ? 4 : second)
    }
    #expect(await bench.do { $1.state.winner } == "left")
    #expect(await bench.do { $1.isIdle })
  }

  @Test("elements of a list are addressed by id, and an unknown one is refused")
  func elements() async throws {
    let bench = try await Bench(Race())
    for id in ["a", "b"] { try await bench.send(.add(id: id)) }
    try await bench.send(.runner(id: "b", input: .flip))
    #expect(await bench.do { $1.state.runners.map(\.notes) } == [[], ["flipped"]])
    let refusals = await bench.do { _, store in
      [
        store.running.refusal(of: .runner(id: "c", input: .flip), from: .server)?.message,
        store.running.refusal(of: .extra(input: .flip), from: .server)?.message,
        store.running.refusal(of: .runner(id: "a", input: .clear), from: .server)?.message,
        store.running.refusal(of: .runner(id: "a", input: .flip), from: .server)?.message,
      ]
    }
    #expect(
      refusals == [
        #"runners has no element "c""#, "extra is absent", "nothing to clear", nil,
      ])
  }

  @Test("the effects of a child end when it leaves the state, also if another one takes its place")
  func vanished() async throws {
    let bench = try await Bench(Race())
    try await bench.send(.addExtra)
    for id in ["a", "b", "c"] { try await bench.send(.add(id: id)) }
    for id in ["a", "b", "c"] { try await bench.send(.runner(id: id, input: .wait), noting: id) }
    try await bench.send(.extra(input: .start))
    try await bench.send(.remove(id: "a"))
    try await bench.send(.swap(id: "b", by: "d"))
    #expect(bench.notes.all == ["a settled at 5", "b settled at 6"])
    #expect(await bench.do { $1.runner.running.map(\.operation.name) } == ["runners/c/wait"])
    try await bench.send(.removeExtra)
    await bench.advance(by: 10, sleepers: 1)
    await bench.reaches(notes: 3)
    #expect(await bench.do { $1.isIdle })
    #expect(await bench.do { $1.state.runners.map(\.notes) } == [["saved"], []])
  }

  @Test("children begin with their initial effect when they appear")
  func appearing() async throws {
    let bench = try await Bench(Race(childBegins: true))
    try await bench.send(.add(id: "a"))
    try await bench.send(.addExtra)
    try await bench.send(.add(id: "b"))
    await bench.advance(by: 1, sleepers: 3)
    await bench.reaches(revision: 6)
    #expect(await bench.do { $1.state.runners.map(\.seconds) } == [1, 1])
    #expect(await bench.do { $1.state.extra?.seconds } == 1)
    try await bench.send(.remove(id: "a"))
    await bench.advance(by: 1, sleepers: 2)
    await bench.reaches(revision: 9)
  }

  private struct Shelf: StateMachine {
    enum Input: Codable, Sendable {
      case lap(input: Lap.Input)
      case put(weight: Double)
      case clear
    }
    enum Action: Equatable, Sendable {
      case lap(Lap.Action)
      case put(Double)
      case cleared
    }
    struct State: Codable, Sendable {
      var lap: Lap.State?
      var weight = 0.0
    }
    let initialState = State()
    var children: [Child<Shelf>] {
      Child(
        "lap", Lap(begins: true), optionalState: \.lap,
        input: CasePath(Input.lap) { if case .lap(let input) = $0 { input } else { nil } },
        action: CasePath(Action.lap) { if case .lap(let action) = $0 { action } else { nil } },
        event: { _ in nil })
    }
    func effect(of input: Input, in state: State) -> Effect<Action> {
      switch input {
      case .lap: .none
      case .put(let weight): .action(.put(weight))
      case .clear: .action(.cleared)
      }
    }
    func reduce(_ state: inout State, _ action: Action) {
      switch action {
      case .lap: break
      case .put(let weight): (state.lap, state.weight) = (Lap.State(), weight)
      case .cleared: state.lap = nil
      }
    }
  }

  @Test("a child of a state that is taken back has not appeared")
  func takenBack() async throws {
    let bench = try await Bench(Shelf())
    await #expect(throws: StoreError.self) { try await bench.send(.put(weight: .nan)) }
    try await bench.send(.put(weight: 1))
    // Its initial effect has begun.
    await bench.advance(by: 1, sleepers: 1)
    await bench.reaches(revision: 2)
    #expect(await bench.do { $1.state.lap?.seconds } == 1)
  }

  @Test("elements whose ids are equal as strings, and not as bytes, are children of their own")
  func equivalentIDs() async throws {
    var race = Race()
    race.childBegins = true
    let bench = try await Bench(race)
    for id in ["\u{E9}", "e\u{301}"] { try await bench.send(.add(id: id)) }
    await bench.advance(by: 1, sleepers: 2)
    await bench.reaches(revision: 4)
    #expect(await bench.do { $1.state.runners.map(\.seconds) } == [1, 1])
  }

  /// A list of machines whose effect ids come from their inputs.
  private struct Clocks: StateMachine {
    struct Clock: StateMachine {
      enum Input: Codable, Sendable { case start(name: String) }
      struct State: Codable, Identifiable, Sendable {
        var id = ""
        var seconds = 0
      }
      let initialState = State()
      func effect(of input: Input, in state: State) -> Effect<Int> {
        switch input {
        case .start(let name): .ticks(EffectID(name), every: .seconds(1)) { 1 }
        }
      }
      func reduce(_ state: inout State, _ action: Int) { state.seconds += action }
    }
    enum Input: Codable, Sendable { case clock(id: String, input: Clock.Input) }
    enum Action: Sendable { case clock(String, Int) }
    struct State: Codable, Sendable { var clocks: KeyedList<Clock.State> = [] }
    let initialState: State
    var children: [Child<Clocks>] {
      Child(
        "clocks", Clock(), elements: \.clocks,
        input: CasePath(Input.clock) {
          if case .clock(let id, let input) = $0 { (id, input) } else { nil }
        },
        action: CasePath(Action.clock) {
          if case .clock(let id, let action) = $0 { (id, action) } else { nil }
        })
    }
    func effect(of input: Input, in state: State) -> Effect<Action> { .none }
    func reduce(_ state: inout State, _ action: Action) {}
  }

  @Test("effects of elements whose ids contain slashes and tildes run independently")
  func idsWithSlashes() async throws {
    let ids = ["a", "a/b", "a~1b", "a~01b", "~", "/", ""]
    let place = ElementState(member: StateMember(\Clocks.State.clocks))
    try #require(
      ids.map(place.suffix) == ["/a/", "/a~1b/", "/a~01b/", "/a~001b/", "/~0/", "/~1/", "//"])
    let bench = try await Bench(
      Clocks(initialState: Clocks.State(clocks: KeyedList(ids.map { Clocks.Clock.State(id: $0) }))))
    try await bench.send(.clock(id: "a", input: .start(name: "b/ticks")))
    try await bench.send(.clock(id: "", input: .start(name: "//ticks")))
    for id in ids.dropFirst().dropLast() {
      try await bench.send(.clock(id: id, input: .start(name: "ticks")))
    }
    await bench.advance(by: 1, sleepers: ids.count)
    await bench.reaches(revision: ids.count)
    #expect(await bench.do { $1.state.clocks.map(\.seconds) } == ids.map { _ in 1 })
  }

  @Test("events, redactions and inputs of phases of children are passed on")
  func passedOn() async throws {
    let bench = try await Bench(Race())
    let events = Record<String>()
    await bench.do { _, store in
      _ = store.listenToEvents { events.add(String(decoding: $0, as: UTF8.self)) }
    }
    try await bench.send(.add(id: "a"))
    try await bench.send(.left(input: .start))
    try await bench.send(.right(input: .start))
    try await bench.send(.runner(id: "a", input: .start))
    for second in 1...2 {
      await bench.advance(by: 1, sleepers: 3)
      await bench.reaches(revision: 1 + 3 * second)
    }
    #expect(
      events.all.sorted() == [
        #"{"type":"left","_0":{"type":"full","seconds":2}}"#,
        #"{"type":"runner","id":"a","_1":{"type":"full","seconds":2}}"#,
      ])
    let composed = await bench.do { $1.running.composed }
    let (cleared, ticked) = (Race.Action.runner("a", .cleared), Race.Action.left(.ticked))
    #expect(composed.isRedaction(cleared, of: composed.owner(of: cleared)))
    #expect(!composed.isRedaction(ticked, of: composed.owner(of: ticked)))
    await bench.do { $1.take(.inactive) }
    #expect(await bench.do { $1.isIdle })
  }

  @Test("faults are injected by the name with the child's prefix")
  func faults() async throws {
    let bench = try await Bench(Race())
    bench.faults.inject(.fail, into: "right/save")
    try await bench.send(.left(input: .save), noting: "left")
    try await bench.send(.right(input: .save), noting: "right")
    await bench.reaches(notes: 2)
    #expect(await bench.do { $1.state.left.notes } == ["saved"])
    #expect(await bench.do { $1.state.right.notes } == ["gave up"])
  }

  @Test("restart, resumption and interruption of children belong to a durable parent")
  func durability() throws {
    let composed = Composed(Race())
    var state = Race.State()
    state.runners = [Lap.State(id: "a", seconds: 1)]
    func actions(_ effect: Effect<Race.Action>) -> [Race.Action] {
      switch effect.step {
      case .action(let action): [action]
      case .several(let effects): effects.flatMap(actions)
      default: []
      }
    }
    let restart = composed.restart(
      of: .runner(id: "a", input: .save), in: state, after: .seconds(1))
    #expect(actions(restart) == [.runner("a", .gaveUp)])
    #expect(
      composed.interruptions(in: state) == [.left(.gaveUp), .right(.gaveUp), .runner("a", .gaveUp)])
    guard case .work(let work) = composed.resumption(in: state).only?.step else {
      Issue.record("the feed of the element does not continue")
      return
    }
    #expect(work.id == "runners/a/ticks")
  }

  /// A durable machine with a child that is not durable.
  private struct Mixed: DurableMachine {
    struct Plain: StateMachine {
      enum Input: Codable, Sendable { case go }
      struct State: Codable, Sendable { var count = 0 }
      let initialState = State()
      func effect(of input: Input, in state: State) -> Effect<Int> { .none }
      func reduce(_ state: inout State, _ action: Int) {}
    }
    enum Input: Codable, Sendable { case plain(input: Plain.Input) }
    struct State: Codable, Sendable { var plain = Plain.State() }
    let initialState = State()
    var children: [Child<Mixed>] {
      Child(
        "plain", Plain(), state: \.plain,
        input: CasePath(Input.plain) { if case .plain(let input) = $0 { input } else { nil } },
        action: CasePath({ $0 }, { $0 }))
    }
    func effect(of input: Input, in state: State) -> Effect<Int> { .none }
    func reduce(_ state: inout State, _ action: Int) {}
    func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Int> { .none }
  }

  /// A machine whose children depend on its configuration.
  private struct Lanes: StateMachine {
    enum Input: Codable, Sendable { case lane(number: Int, input: Lap.Input) }
    enum Action: Sendable { case lane(Int, Lap.Action) }
    struct State: Codable, Sendable { var lanes = [Lap.State(), Lap.State(), Lap.State()] }
    let initialState = State()
    let lanes: Int
    let isOpen: Bool
    var children: [Child<Lanes>] {
      if isOpen {
        for lane in 0..<lanes {
          Child(
            "lane\(lane)", Lap(), state: \.lanes[lane],
            input: CasePath({ Input.lane(number: lane, input: $0) }) {
              if case .lane(lane, let input) = $0 { input } else { nil }
            },
            action: CasePath({ Action.lane(lane, $0) }) {
              if case .lane(lane, let action) = $0 { action } else { nil }
            },
            event: { _ in nil })
        }
      }
    }
    func effect(of input: Input, in state: State) -> Effect<Action> { .none }
    func reduce(_ state: inout State, _ action: Action) {}
  }

  @Test("children can be made by a condition and a loop")
  func madeChildren() async throws {
    let bench = try await Bench(Lanes(lanes: 3, isOpen: true))
    try await bench.send(.lane(number: 2, input: .flip))
    #expect(await bench.do { $1.state.lanes.map(\.notes) } == [[], [], ["flipped"]])
    #expect(Lanes(lanes: 3, isOpen: false).children.isEmpty)
  }

  /// A machine that refuses every input, or none.
  private struct Gate: StateMachine {
    enum Input: Codable, Sendable { case pass }
    struct State: Codable, Sendable { var passed = 0 }
    let initialState = State()
    let isOpen: Bool
    func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }
    func reduce(_ state: inout State, _ action: Input) { state.passed += 1 }
    func refusal(of input: Input) -> InputRefusal? {
      isOpen ? nil : InputRefusal(.value, "closed")
    }
  }

  /// A machine whose children have the same case.
  private struct Gates: StateMachine {
    struct State: Codable, Sendable { var first = Gate.State(), second = Gate.State() }
    let initialState = State()
    let isFirstOpen: Bool
    var children: [Child<Gates>] {
      let path = CasePath<Gate.Input, Gate.Input>({ $0 }, { $0 })
      Child("first", Gate(isOpen: isFirstOpen), state: \.first, input: path, action: path)
      Child("second", Gate(isOpen: !isFirstOpen), state: \.second, input: path, action: path)
    }
    func effect(of input: Gate.Input, in state: State) -> Effect<Gate.Input> { .none }
    func reduce(_ state: inout State, _ action: Gate.Input) {}
  }

  @Test("an input belongs to the first child that has its case, which alone can refuse it")
  func firstChild() async throws {
    let bench = try await Bench(Gates(isFirstOpen: true))
    try await bench.send(.pass)
    #expect(await bench.do { [$1.state.first.passed, $1.state.second.passed] } == [1, 0])
    #expect(await bench.do { $1.running.refusal(of: .pass, from: .server)?.message } == nil)
    let closed = try await Bench(Gates(isFirstOpen: false))
    #expect(await closed.do { $1.running.refusal(of: .pass, from: .server)?.message } == "closed")
  }

  /// A machine that hides a part of its state.
  private struct Secret: StateMachine {
    enum Input: Codable, Sendable { case go }
    struct State: Codable, Sendable { var secret = 1 }
    struct ViewState: Codable, Sendable {}
    let initialState = State()
    func effect(of input: Input, in state: State) -> Effect<Int> { .none }
    func reduce(_ state: inout State, _ action: Int) {}
    func view(of state: State) -> ViewState { ViewState() }
  }

  /// A machine that shows the state of its child, and not the view of the child.
  private struct Leak: StateMachine {
    enum Input: Codable, Sendable { case secret(input: Secret.Input) }
    struct State: Codable, Sendable { var secret = Secret.State() }
    let initialState = State()
    var children: [Child<Leak>] {
      Child(
        "secret", Secret(), state: \.secret,
        input: CasePath(Input.secret) { if case .secret(let input) = $0 { input } else { nil } },
        action: CasePath({ $0 }, { $0 }))
    }
    func effect(of input: Input, in state: State) -> Effect<Int> { .none }
    func reduce(_ state: inout State, _ action: Int) {}
  }

  /// A machine with a hand of cards that only its player sees.
  private struct Hand: AudienceMachine {
    enum Input: Codable, Sendable { case go }
    struct State: Codable, Sendable { var cards = ["ace"] }
    let initialState = State()
    func effect(of input: Input, in state: State) -> Effect<Int> { .none }
    func reduce(_ state: inout State, _ action: Int) {}
    func audience(of viewer: Viewer) -> String { viewer.identity ?? "" }
    func view(of state: State, for player: String) -> State { State(cards: []) }
  }

  /// A machine that shows the hand to all viewers.
  private struct Table: StateMachine {
    enum Input: Codable, Sendable { case hand(input: Hand.Input) }
    struct State: Codable, Sendable { var hand = Hand.State() }
    let initialState = State()
    var children: [Child<Table>] {
      Child(
        "hand", Hand(), state: \.hand,
        input: CasePath(Input.hand) { if case .hand(let input) = $0 { input } else { nil } },
        action: CasePath({ $0 }, { $0 }))
    }
    func effect(of input: Input, in state: State) -> Effect<Int> { .none }
    func reduce(_ state: inout State, _ action: Int) {}
  }

  /// A room that counts its viewers, and a house with one.
  private struct Room: PresenceAwareMachine {
    enum Input: Codable, Sendable { case viewed(count: Int) }
    struct State: Codable, Sendable { var viewers = 0 }
    let initialState = State()
    func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }
    func reduce(_ state: inout State, _ action: Input) {
      if case .viewed(let count) = action { state.viewers = count }
    }
    func input(for viewers: [Viewer]) -> Input? { .viewed(count: viewers.count) }
  }
  private struct House: StateMachine {
    enum Input: Codable, Sendable { case room(input: Room.Input) }
    struct State: Codable, Sendable { var room = Room.State() }
    let initialState = State()
    var children: [Child<House>] {
      Child(
        "room", Room(), state: \.room,
        input: CasePath(Input.room) { if case .room(let input) = $0 { input } else { nil } },
        action: CasePath({ $0 }, { $0 }))
    }
    func effect(of input: Input, in state: State) -> Effect<Room.Input> { .none }
    func reduce(_ state: inout State, _ action: Room.Input) {}
  }

  @Test("a child gets its input when the viewers change")
  func presence() async throws {
    let bench = try await Bench(House())
    #expect(await bench.do { $1.isPresenceAware })
    await bench.do { $1.take([Viewer(name: "ann"), Viewer(name: "bob")]) }
    #expect(await bench.do { $1.state.room.viewers } == 2)
    let race = try await Bench(Race())
    #expect(await race.do { !$1.isPresenceAware })
  }

  @Test("a wrong composition is an error when the store opens, which names the child")
  func faultyCompositions() async throws {
    await #expect {
      _ = try await Bench(Race(extraName: "left"))
    } throws: { "\($0)".contains("two children with the name left") }
    await #expect {
      _ = try await Bench(Race(extraName: "a/b"))
    } throws: { "\($0)".contains("a/b") }
    await #expect {
      _ = try await Bench(Mixed())
    } throws: { "\($0)".contains("the child plain of the durable machine Mixed") }
    await #expect {
      _ = try await Bench(Leak())
    } throws: { "\($0)".contains("the child secret of Leak has a view state") }
    await #expect {
      _ = try await Bench(Table())
    } throws: { "\($0)".contains("the child hand of Table is an AudienceMachine") }
  }
}

extension Effect {
  /// The only effect of several ones.
  fileprivate var only: Effect? {
    if case .several(let effects) = step {
      effects.count == 1 ? effects[0].only : nil
    } else {
      self
    }
  }
}
