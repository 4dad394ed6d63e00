// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import Sessions
import StatewireJSON
import StatewireProtocol
import Testing

@testable import ServerCore

/// Random conversations with the built-in stores under the virtual clock, compared with models of
/// the stores that share no code with them.
@Suite("Models of the built-in stores", .timeLimit(.minutes(20)))
struct StoreModelTests {
  @Test("the models agree with the messages that the client receives", arguments: 0..<40)
  func conversation(seed: Int) throws {
    let conversation = try RandomConversation(seed: seed)
    for _ in 0..<80 { try conversation.step() }
    try conversation.finish()
  }
}

private final class RandomConversation {
  private let world: World
  private let client: TestClient
  private var numbers: FixedNumbers
  private var model = StoreModel()
  private var handle = ""
  private var lastID = 0
  /// The sum of all advances of the clock, in milliseconds.
  private var now = 0
  /// The ids of inputs that may have running effects.
  private var cancellable: [String] = []

  private var adding = AddingModel()
  private var list = ListModel()
  private var balance = BalanceModel()
  private let loaders: [String: LoaderModel]
  /// True while a `reset` is being folded.
  private let isResetting = Flag()

  init(seed: Int) throws {
    world = World(underTest: .init(), kinds: Self.kinds)
    client = TestClient(world)
    numbers = FixedNumbers(seed: UInt64(seed))
    var trees = RandomTrees(numbers: FixedNumbers(seed: UInt64(seed) ^ 0x5EED))
    var loaders: [String: LoaderModel] = [:]
    for name in ["first", "second"] { loaders[name] = LoaderModel(tree: trees.root()) }
    self.loaders = loaders
    model.check = { [isResetting] store, old, new in
      loaders[store]?.check(old, new, isReset: isResetting.isSet)
    }
    let session = try call("session/open", #"{"frontend":"model"}"#)
    handle = try #require(session["session"]?.string)
    try open("adding", "addTodo", #"{"memory":{}}"#)
    try open("list", "todo", #"{"memory":{"count":1}}"#)
    try open("balance", "balance", "{}")
    for (name, loader) in loaders.sorted(by: { $0.key < $1.key }) {
      try open(name, "loading", loader.tree.text)
    }
  }

  private static var kinds: [StoreKind] {
    [
      StoreKind("addTodo", configuration: TodoConfiguration.self) { _ in
        AddTodoStore(repository: MemoryTodoRepository())
      },
      StoreKind("balance") {
        BalanceStore(
          service: FixedBalanceService(
            .response(
              BalanceResponse(
                balance: .zero, date: Timestamp(secondsSinceEpoch: BalanceModel.start)))))
      },
      StoreKind("loading", configuration: LoaderConfiguration.self, sharing: LoaderCache.init) {
        configuration, cache throws(ConfigurationError) in
        try LoadingStore(configuration: configuration, sources: [:], cache: cache)
      },
    ]
  }

  // MARK: Steps

  func step() throws {
    switch pick(12) {
    case 0, 1: try move(by: pick(4) * 500)
    case 2: try move(by: pick(3) * 1000 + pick(900))
    case 3: try cancelSome()
    case 4: try attachAgain()
    case 5, 6: try addTodo()
    case 7: try changeList()
    case 8: try changeBalance()
    default: try useLoader()
    }
    check()
  }

  /// Cancels all running inputs. Then every settled request must have its response.
  func finish() throws {
    for id in cancellable { try cancel(id) }
    check()
    #expect(model.openRequests == [])
  }

  private func check() {
    #expect(adding.agrees(with: state("adding")), "\(adding) \(state("adding"))")
    #expect(list.agrees(with: state("list")), "\(list) \(state("list"))")
    #expect(balance.agrees(with: state("balance"), at: now), "\(balance) \(state("balance"))")
  }

  private func move(by milliseconds: Int) throws {
    now += milliseconds
    _ = try call("test/advanceClock", "{\"by\":\(Self.seconds(milliseconds))}")
    adding.ends(at: now)
    list.ends(at: now)
    balance.ends(at: now)
  }

  private func cancelSome() throws {
    guard !cancellable.isEmpty else { return }
    try cancel(cancellable.remove(at: pick(cancellable.count)))
  }

  private func cancel(_ id: String) throws {
    _ = try call("$/cancelRequest", "{\"id\":\(id)}")
    adding.cancelled(id)
    list.cancelled(id)
    balance.cancelled(id)
  }

  /// Attaches to the session that the client is already in. It stays subscribed to all stores.
  private func attachAgain() throws {
    let revisions = model.held.sorted { $0.key < $1.key }
      .map { "\"\($0.key)\":\($0.value.revision)" }.joined(separator: ",")
    let name = pick(2) == 0 ? "model" : "other"
    let result = try call(
      "session/attach",
      "{\"session\":\"\(handle)\",\"frontend\":\"\(name)\",\"revisions\":{\(revisions)}}")
    for store in model.held.keys {
      #expect(result["stores"]?[store]?["replayed"]?.int == 0, "\(result)")
    }
  }

  private func addTodo() throws {
    if pick(5) == 0 {
      let isValid = pick(2) == 0
      adding.validated(isValid)
      return try send("adding", "{\"type\":\"validate\",\"title\":\"\(isValid ? "x" : " ")\"}")
    }
    let fault = try inject("addTodo", into: "adding")
    adding.began(nextID, fault, at: now)
    try send("adding", #"{"type":"addTodo","title":"Milk"}"#)
  }

  private func changeList() throws {
    switch pick(3) {
    case 0:
      let fails = pick(2) == 0
      if fails { try inject(.fail, "addTodo", into: "list") }
      list.added(fails: fails)
      try send("list", #"{"type":"todoAdded","title":"Milk"}"#)
    default:
      let fault = try inject("getTodos", into: "list")
      list.requested(nextID, fault, at: now)
      try send("list", #"{"type":"stateRequested"}"#)
    }
  }

  private func changeBalance() throws {
    switch pick(7) {
    case 0:
      balance.isInactive = true
      _ = try call("frontend/lifecycle", #"{"phase":"inactive"}"#)
    case 1:
      balance.isInactive = false
      _ = try call("frontend/lifecycle", #"{"phase":"active"}"#)
    case 2:
      balance.isResigned = true
      try send("balance", #"{"type":"willResignActive"}"#)
    case 3:
      balance.isResigned = false
      try send("balance", #"{"type":"didBecomeActive"}"#)
    case 4:
      try move(by: 40_000_000)
    default:
      let fault = try inject("balance", into: "balance")
      balance.requested(nextID, fault, at: now)
      try send("balance", #"{"type":"viewDidAppear"}"#)
    }
  }

  private func useLoader() throws {
    let store = ["first", "second"][pick(2)]
    let input = ["load", "load", "load", "loadIfNotLoading", "appear", "cancel", "reset"][pick(7)]
    let before = state(store)
    isResetting.isSet = input == "reset"
    try send(store, "{\"type\":\"\(input)\"}")
    isResetting.isSet = false
    let after = state(store)
    switch (input, before["type"]?.string, before["progress"]?["isCancelled"]?.bool) {
    case ("reset", _, _):
      #expect(after["type"]?.string == "idle")
    case ("cancel", "loading", nil), ("cancel", "loading", false):
      #expect(after["progress"]?["isCancelled"]?.bool == true)
      #expect(after["progress"]?["percent"]?.int == before["progress"]?["percent"]?.int)
    case (_, "loading", true):
      #expect(after == before)
    default:
      break
    }
  }

  // MARK: Faults

  private func inject(_ operation: String, into store: String) throws -> ModelFault? {
    let fault: ModelFault? =
      switch pick(6) {
      case 0: .fail
      case 1: .hang
      case 2, 3: .delay(500 + pick(4) * 500)
      default: nil
      }
    if let fault { try inject(fault, operation, into: store) }
    return fault
  }

  private func inject(_ fault: ModelFault, _ operation: String, into store: String) throws {
    let text =
      switch fault {
      case .fail: #"{"type":"fail"}"#
      case .hang: #"{"type":"hang"}"#
      case .delay(let time): "{\"type\":\"delay\",\"seconds\":\(Self.seconds(time))}"
      }
    _ = try call(
      "test/injectFault",
      "{\"store\":\"\(store)\",\"operation\":\"\(operation)\",\"fault\":\(text)}")
  }

  // MARK: Messages

  private var nextID: String { "\(lastID + 1)" }

  private func open(_ store: String, _ kind: String, _ configuration: String) throws {
    _ = try call(
      "store/open", "{\"store\":\"\(store)\",\"kind\":\"\(kind)\",\"config\":\(configuration)}")
    try model.subscribed(store, try call("store/subscribe", "{\"store\":\"\(store)\"}"))
  }

  private func send(_ store: String, _ input: String) throws {
    lastID += 1
    let id = "\(lastID)"
    cancellable.append(id)
    try model.sends(id, to: store)
    client.send(ServerCoreTests.send(id, input, to: store, settle: pick(3) > 0))
    try receive()
    model.becameIdle()
  }

  private func call(_ method: String, _ params: String) throws -> JSONValue {
    lastID += 1
    let id = "\(lastID)"
    client.send(request(id, method, params))
    let responses = try receive()
    return try #require(responses[id])
  }

  /// Takes all messages that have arrived.
  /// - Returns: The results by their ids.
  @discardableResult
  private func receive() throws -> [String: JSONValue] {
    world.loop.runAll()
    var results: [String: JSONValue] = [:]
    for text in client.takeMessages() {
      try model.received(text)
      let message = try JSONValue(parsing: text)
      if let id = message["id"]?.description, let result = message["result"] {
        results[id] = result
      }
    }
    return results
  }

  private func state(_ store: String) -> JSONValue { model.held[store]?.state ?? .null }

  private func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &numbers) }

  private static func seconds(_ milliseconds: Int) -> String {
    let rest = "\(1000 + milliseconds % 1000)".dropFirst()
    return "\(milliseconds / 1000).\(rest)"
  }
}

private final class Flag {
  var isSet = false
}

// MARK: - Models

private enum ModelFault {
  case fail
  case hang
  /// - Units: milliseconds.
  case delay(Int)

  /// Returns the time at which an operation that begins now ends; nil if it never ends.
  func end(at now: Int) -> Int? { if case .delay(let time) = self { now + time } else { nil } }
}

/// The form that adds a todo.
private struct AddingModel {
  private var valid = false
  private var dismiss = false
  /// The time at which each running input ends, by the input's id.
  private var running: [String: Int?] = [:]

  mutating func validated(_ isValid: Bool) { (valid, dismiss) = (isValid, false) }

  mutating func began(_ id: String, _ fault: ModelFault?, at now: Int) {
    switch fault {
    case nil: dismiss = true
    case .fail?: break
    case let fault?: running[id] = fault.end(at: now)
    }
  }

  mutating func ends(at now: Int) {
    for (id, end) in running {
      guard let end, end <= now else { continue }
      running[id] = nil
      dismiss = true
    }
  }

  mutating func cancelled(_ id: String) { running.removeValue(forKey: id) }

  func agrees(with state: JSONValue) -> Bool {
    state["valid"]?.bool == valid && state["dismiss"]?.bool == dismiss
      && state["loading"]?.bool == !running.isEmpty
  }
}

/// A list in memory.
private struct ListModel {
  private var shown = "loading"
  private var count = 1
  private var load: (id: String, end: Int?)?

  mutating func added(fails: Bool) {
    if fails { shown = "error" } else { count += 1 }
  }

  mutating func requested(_ id: String, _ fault: ModelFault?, at now: Int) {
    if shown != "content" { shown = "loading" }
    load = nil
    switch fault {
    case nil: shown = "content"
    case .fail?: shown = "error"
    case let fault?: load = (id, fault.end(at: now))
    }
  }

  mutating func ends(at now: Int) {
    guard let end = load?.end, end <= now else { return }
    load = nil
    shown = "content"
  }

  mutating func cancelled(_ id: String) {
    guard load?.id == id else { return }
    load = nil
    if shown == "loading" { shown = "error" }
  }

  func agrees(with state: JSONValue) -> Bool {
    state["type"]?.string == shown && (shown != "content" || state["todos"]?.array?.count == count)
  }
}

private struct BalanceModel {
  /// 2021-06-02T11:01:48Z, when the calendar of a session under test begins.
  static let start = 1_622_631_708

  var isResigned = false
  var isInactive = false
  private var hasResponse = false
  private var didFail = false
  private var refresh: (id: String, end: Int?)?

  mutating func requested(_ id: String, _ fault: ModelFault?, at now: Int) {
    (didFail, refresh) = (false, nil)
    switch fault {
    case nil: hasResponse = true
    case .fail?: didFail = true
    case let fault?: refresh = (id, fault.end(at: now))
    }
  }

  mutating func ends(at now: Int) {
    guard let end = refresh?.end, end <= now else { return }
    refresh = nil
    hasResponse = true
  }

  mutating func cancelled(_ id: String) {
    if refresh?.id == id { refresh = nil }
  }

  func agrees(with state: JSONValue, at now: Int) -> Bool {
    let isHidden = isResigned || isInactive
    let days = (Self.start % 86_400 * 1000 + now) / 86_400_000
    let day =
      ["Today", "Yesterday"].indices.contains(days) ? ["Today", "Yesterday"][days] : "6/2/21"
    return state["isRedacted"]?.bool == isHidden && state["didFail"]?.bool == didFail
      && state["isRefreshing"]?.bool == (refresh != nil)
      && state["lastResponse"]?.isNull == (isHidden || !hasResponse)
      // A redacted state does not contain the date.
      && (isHidden
        || state["infoText"]?.string?.contains("Last update: \(day),") == hasResponse)
  }
}

/// The properties that every loader has, independent of its tree.
private final class LoaderModel {
  let tree: RandomTrees.Tree
  /// The highest percent of the attempt.
  private var highest = 0

  init(tree: RandomTrees.Tree) { self.tree = tree }

  func check(_ old: JSONValue, _ new: JSONValue, isReset: Bool) {
    if old["progress"]?["isCancelled"]?.bool == true {
      #expect(isReset, "cancelled until a reset: \(new)")
    }
    guard new["type"]?.string == "loading", let progress = new["progress"], !progress.isNull else {
      highest = 0
      return
    }
    guard let percent = progress["percent"]?.int else { return }
    #expect(percent >= highest, "\(tree.text)")
    #expect(percent < 100 || !tree.hasParts, "\(tree.text)")
    highest = percent
  }
}

/// Random loader trees in which each load is one attempt: loaders that retry are only parts of
/// other loaders.
private struct RandomTrees {
  struct Tree {
    let text: String
    /// True if the percentage is that of several parts.
    let hasParts: Bool
  }

  var numbers: FixedNumbers

  mutating func root() -> Tree {
    switch pick(6) {
    case 0: return Tree(text: mock(), hasParts: false)
    case 1: return wrapped(#""type":"timeout","interval":6"#)
    case 2: return wrapped(#""type":"concurrencyLimit","limit":1"#)
    case 3:
      let first = pick(2) == 0
      return wrapped(
        #""type":"debounce","interval":\#(1 + pick(2)),"executeFirstImmediately":\#(first)"#)
    default: return Tree(text: parts(2), hasParts: true)
    }
  }

  private mutating func wrapped(_ policy: String) -> Tree {
    let inner = root()
    return Tree(text: "{\(policy),\"of\":\(inner.text)}", hasParts: inner.hasParts)
  }

  private mutating func parts(_ depth: Int) -> String {
    let type = pick(2) == 0 ? "all" : "sequence"
    let parts = (0..<1 + pick(3)).map { _ in part(depth - 1) }.joined(separator: ",")
    return #"{"type":"\#(type)","of":[\#(parts)]}"#
  }

  private mutating func part(_ depth: Int) -> String {
    switch pick(depth > 0 ? 5 : 3) {
    case 0:
      return #"{"type":"retry","maxAttempts":2,"backoff":{"base":1},"of":\#(mock())}"#
    case 1, 2: return mock()
    case 3: return #"{"type":"debounce","interval":1,"of":\#(parts(depth))}"#
    default: return parts(depth)
    }
  }

  private mutating func mock() -> String {
    let progress = (0..<pick(4)).map { _ in
      let percent = pick(4) == 0 ? "null" : "\(pick(101))"
      return #"{"type":"loading","progress":{"percent":\#(percent),"message":"\#(pick(9))"}}"#
    }
    let end =
      pick(3) == 0
      ? #"{"type":"failure","error":{"code":"a","message":"b"}}"# : #"{"type":"loaded","value":1}"#
    let states = (progress + [end]).map { #"{"after":\#(pick(3)).5,"state":\#($0)}"# }
    return #"{"type":"mock","states":[\#(states.joined(separator: ","))]}"#
  }

  private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &numbers) }
}
