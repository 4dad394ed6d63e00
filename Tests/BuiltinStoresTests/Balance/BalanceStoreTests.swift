// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import StateMachinesTesting
import StatewireJSON
import Testing

@Suite("Balance store", .timeLimit(.minutes(15)))
struct BalanceStoreTests {
  private static let now = seconds(0)

  /// Returns the time a number of seconds after the stores of this suite start.
  private static func seconds(_ count: Int) -> Timestamp {
    Timestamp(sinceEpoch: BalanceResult.time + .seconds(count))
  }

  private func store(
    _ service: some BalanceService
  ) -> TestStore<BalanceStore> {
    TestStore(BalanceStore(service: service), clock: ManualClock(start: BalanceResult.time))
  }

  private func text(_ state: BalanceStore.State) -> String {
    let view = BalanceStore(service: ScriptedBalanceService.silent).view(of: state)
    return String(decoding: view.jsonBytes(), as: UTF8.self)
  }

  // MARK: Refreshing

  @Test("the initial state has no response")
  func initial() {
    #expect(
      text(BalanceStore.State())
        == #"{"title":"Your Balance","lastResponse":null,"isRefreshing":false,"didFail":false,"#
        + #""isRedacted":false,"formattedBalance":"--","infoText":"","infoColor":"regular"}"#)
  }

  @Test(
    "a refresh shows that it is running, then the response",
    arguments: [BalanceInput.viewDidAppear, .refreshButtonWasTapped])
  func success(_ input: BalanceInput) async throws {
    let store = store(ScriptedBalanceService.slow(.response("1.23")))
    try await store.send(input) {
      $0.generation = 1
      $0.isRefreshing = true
      $0.now = Self.now
    }
    try await store.advance(by: .seconds(1))
    try await store.receive(.refreshEnded(1, .response("1.23"), at: Self.seconds(1))) {
      $0.now = Self.seconds(1)
      $0.lastResponse = BalanceResponse("1.23")
      $0.isRefreshing = false
    }
    let state = await store.state
    #expect(
      text(state)
        == #"{"title":"Your Balance","#
        + #""lastResponse":{"balance":"1.23","date":"2021-06-02T11:01:48Z"},"#
        + #""isRefreshing":false,"didFail":false,"isRedacted":false,"formattedBalance":"$1.23","#
        + #""infoText":"Last update: Today, 11:01:48 AM.","infoColor":"regular"}"#)
    try await store.finish()
  }

  @Test("a failure keeps the last response, and the next refresh clears the failure")
  func failure() async throws {
    let store = store(ScriptedBalanceService.slow(.response("1.23"), .failed, .failed))
    try await store.send(.viewDidAppear) {
      $0.generation = 1
      $0.isRefreshing = true
      $0.now = Self.now
    }
    try await store.advance(by: .seconds(1))
    try await store.receive {
      $0.now = Self.seconds(1)
      $0.lastResponse = BalanceResponse("1.23")
      $0.isRefreshing = false
    }
    for generation in 2...3 {
      let before = await store.state
      try await store.send(.refreshButtonWasTapped) {
        $0.generation = generation
        $0.isRefreshing = true
        $0.didFail = false
        $0.now = Self.seconds(generation - 1)
      }
      try await store.advance(by: .seconds(1))
      try await store.receive(.refreshEnded(generation, .failed, at: Self.seconds(generation))) {
        $0.now = Self.seconds(generation)
        $0.isRefreshing = false
        $0.didFail = true
      }
      #expect(await store.state.lastResponse == before.lastResponse)
    }
    try await store.finish()
  }

  @Test("each action causes one publication with all of its changes")
  func publications() async throws {
    let host = BalanceHost(
      BalanceStore(
        service: FixedBalanceService(.response("1.23"), .failed, .response("1.23"))))
    for _ in 0..<4 { try await host.send(.refreshButtonWasTapped) }
    let texts = await host.texts
    let states = try statesOf(texts)
    #expect(
      states == [
        #"null false false "" regular"#,
        #"null true false "Loading..." regular"#,
        #""1.23" false false "Last update: Today, 11:01:48 AM." regular"#,
        #""1.23" true false "Loading... Last update: Today, 11:01:48 AM." regular"#,
        #""1.23" false true "Failed to update. Last update: Today, 11:01:48 AM." failure"#,
        #""1.23" true false "Loading... Last update: Today, 11:01:48 AM." regular"#,
        #""1.23" false false "Last update: Today, 11:01:48 AM." regular"#,
        #""1.23" true false "Loading... Last update: Today, 11:01:48 AM." regular"#,
        #""1.23" false false "Last update: Today, 11:01:48 AM." regular"#,
      ])
    await host.close()
  }

  /// Applies the patches to the first state and returns a short text for each state.
  private func statesOf(_ texts: [String]) throws -> [String] {
    var state = try JSONValue(parsing: texts[0])
    return try texts.enumerated().map { number, text in
      if number > 0 { state = try JSONPatch(try JSONValue(parsing: text)).apply(to: state) }
      let view = try JSON.decode(BalanceViewState.self, from: state)
      let balance = view.lastResponse.map { "\"\($0.balance)\"" } ?? "null"
      return "\(balance) \(view.isRefreshing) \(view.didFail) \"\(view.infoText)\" "
        + view.infoColor.rawValue
    }
  }

  @Test("of several refreshes only the newest gives a response, and the state stays refreshing")
  func newest() async throws {
    let store = store(ScriptedBalanceService.slow(.response("1"), .response("2")))
    try await store.send(.viewDidAppear) {
      $0.generation = 1
      $0.isRefreshing = true
      $0.now = Self.now
    }
    try await store.advance(by: .milliseconds(500))
    // The older refresh is cancelled and reports it; the state is still refreshing.
    try await store.send(.refreshButtonWasTapped) { $0.generation = 2 }
    try await store.advance(by: .seconds(1))
    try await store.receive(.refreshEnded(2, .response("2"), at: Self.seconds(1))) {
      $0.now = Self.seconds(1)
      $0.lastResponse = BalanceResponse("2")
      $0.isRefreshing = false
    }
    try await store.finish()
  }

  @Test("actions of an older refresh do not change the state")
  func older() {
    let machine = BalanceStore(service: ScriptedBalanceService.silent)
    var state = BalanceStore.State()
    state.generation = 2
    state.isRefreshing = true
    let before = state
    for action in [
      .refreshEnded(1, .response("1"), at: Self.now), .refreshEnded(1, .failed, at: Self.now),
      .refreshCancelled(1),
    ] as [BalanceStore.Action] {
      machine.reduce(&state, action)
      #expect(state == before)
    }
  }

  @Test("a refresh without a response keeps the state refreshing until it is cancelled")
  func silence() async throws {
    let host = BalanceHost(BalanceStore(service: ScriptedBalanceService.silent))
    let inputID = try await host.send(.viewDidAppear)
    #expect(await host.view?.infoText == "Loading...")
    await host.cancel(inputID)
    #expect(await host.view?.isRefreshing == false)
    #expect(await host.view?.didFail == false)
    #expect(await host.view?.infoText == "")
    await host.close()
  }

  @Test("an injected fault makes the operation `balance` fail")
  func fault() async throws {
    let faults = Faults()
    faults.inject(.fail, into: "balance")
    faults.inject(.hang, into: "balance")
    let host = BalanceHost(
      BalanceStore(service: FixedBalanceService(.response("1.23"))), faults: faults)
    try await host.send(.viewDidAppear)
    await host.until { !$0.isRefreshing }
    #expect(await host.view?.infoText == "Failed to update.")
    let inputID = try await host.send(.refreshButtonWasTapped)
    #expect(await host.view?.infoText == "Loading...")
    await host.cancel(inputID)
    #expect(await host.view?.infoText == "")
    try await host.send(.refreshButtonWasTapped)
    #expect(await host.view?.formattedBalance == "$1.23")
    await host.close()
  }

  // MARK: Texts

  @Test(
    "the text shows the state of the refresh, then the last update; a failure takes precedence",
    arguments: [
      (false, false, false, ""), (false, true, false, "Loading..."),
      (false, false, true, "Failed to update."), (true, false, false, "Last update: D."),
      (true, true, false, "Loading... Last update: D."),
      (true, false, true, "Failed to update. Last update: D."),
      (false, true, true, "Failed to update."),
      (true, true, true, "Failed to update. Last update: D."),
    ])
  func infoText(_ hasResponse: Bool, _ isRefreshing: Bool, _ didFail: Bool, _ expected: String) {
    let machine = BalanceStore(
      service: ScriptedBalanceService.silent, dates: RelativeDateFormat { _, _, _ in "D" })
    for (isResigned, isInactive) in [(false, false), (true, false), (false, true), (true, true)] {
      let isRedacted = isResigned || isInactive
      var state = BalanceStore.State()
      state.lastResponse = hasResponse ? BalanceResponse("1.23") : nil
      state.isRefreshing = isRefreshing
      state.didFail = didFail
      state.isResigned = isResigned
      state.isInactive = isInactive
      let view = machine.view(of: state)
      #expect(view.infoText == expected)
      #expect(view.infoColor == (didFail ? .failure : .regular))
      #expect(view.formattedBalance == (hasResponse && !isRedacted ? "$1.23" : "--"))
      #expect(view.title == "Your Balance")
      #expect(view.isRefreshing == isRefreshing)
      #expect(view.didFail == didFail)
      #expect(view.isRedacted == isRedacted)
    }
  }

  @Test(
    "amounts are US dollars with two decimals, rounded half to even",
    arguments: [
      ("1.23", "$1.23"), ("1234567.891", "$1,234,567.89"), ("-1.5", "-$1.50"),
      ("-0.004", "$0.00"), ("0", "$0.00"), ("-0", "$0.00"), ("0.125", "$0.12"),
      ("0.135", "$0.14"), ("1.005", "$1.00"), ("2.675", "$2.68"), ("-0.005", "$0.00"),
      ("-0.015", "-$0.02"), ("0.994999", "$0.99"), ("0.995", "$1.00"), ("0.985", "$0.98"),
      ("7", "$7.00"), ("0.1", "$0.10"), ("12", "$12.00"), ("123", "$123.00"),
      ("999.995", "$1,000.00"), ("999.994", "$999.99"), ("1000", "$1,000.00"),
      ("-1234.5", "-$1,234.50"), ("100000", "$100,000.00"), ("1e6", "$1,000,000.00"),
      ("1e-30", "$0.00"), ("1000000000000000.01", "$1,000,000,000,000,000.01"),
      ("9007199254740993", "$9,007,199,254,740,993.00"),
      ("123456789012345678901234567890.125", "$123,456,789,012,345,678,901,234,567,890.12"),
    ])
  func formattedBalance(_ balance: String, _ expected: String) {
    var state = BalanceStore.State()
    state.lastResponse = BalanceResponse(balance)
    let view = BalanceStore(service: ScriptedBalanceService.silent).view(of: state)
    #expect(view.formattedBalance == expected)
  }

  @Test("the largest amounts are shown in full")
  func huge() {
    var state = BalanceStore.State()
    state.lastResponse = BalanceResponse("-1e199")
    let text = BalanceStore(service: ScriptedBalanceService.silent).view(of: state).formattedBalance
    #expect(text == "-$10" + String(repeating: ",000", count: 66) + ".00")
  }

  // MARK: Redaction

  @Test(
    "a redacted balance shows no amount; later responses are shown when it is no longer redacted")
  func redaction() async throws {
    let host = BalanceHost(
      BalanceStore(service: FixedBalanceService(.response("1.23"), .response("77"), .failed)))
    try await host.send(.viewDidAppear)
    let before = await host.view
    try await host.send(.willResignActive)
    var hidden = try #require(before)
    hidden.lastResponse = nil
    hidden.formattedBalance = "--"
    hidden.isRedacted = true
    #expect(await host.view == hidden)
    #expect(await host.view?.infoText == "Last update: Today, 11:01:48 AM.")
    // The second input changes nothing.
    let count = await host.count
    try await host.send(.willResignActive)
    #expect(await host.count == count)
    try await host.send(.refreshButtonWasTapped)
    #expect(await host.view == hidden)
    for text in await host.texts[count...] {
      #expect(!text.contains("77") && !text.contains("1.23"))
    }
    try await host.send(.refreshButtonWasTapped)
    #expect(
      await host.view?.infoText == "Failed to update. Last update: Today, 11:01:48 AM.")
    try await host.send(.didBecomeActive)
    #expect(await host.view?.formattedBalance == "$77.00")
    #expect(await host.view?.lastResponse == BalanceResponse("77"))
    #expect(await host.view?.isRedacted == false)
    await host.close()
  }

  @Test("an amount is hidden while the frontend or the lifecycle phase is inactive")
  func reasons() async throws {
    let host = BalanceHost(BalanceStore(service: FixedBalanceService(.response("1.23"))))
    try await host.send(.viewDidAppear)
    for (step, isRedacted) in [
      (BalanceInput.frontendsBecameInactive, true), (.didBecomeActive, true),
      (.frontendsBecameActive, false), (.willResignActive, true), (.frontendsBecameInactive, true),
      (.frontendsBecameActive, true), (.didBecomeActive, false), (.willResignActive, true),
      (.frontendsBecameInactive, true), (.didBecomeActive, true), (.frontendsBecameActive, false),
    ] {
      switch step {
      case .frontendsBecameInactive: await host.take(.inactive)
      case .frontendsBecameActive: await host.take(.active)
      default: try await host.send(step)
      }
      #expect(await host.view?.isRedacted == isRedacted)
      #expect(await host.view?.formattedBalance == (isRedacted ? "--" : "$1.23"))
    }
    await host.close()
  }

  @Test("no description, reflection or dump contains an amount")
  func printing() {
    let response = BalanceResponse("77.25")
    var state = BalanceStore.State()
    state.lastResponse = response
    let view = BalanceStore(service: ScriptedBalanceService.silent).view(of: state)
    let values: [Any] = [
      response, state, view, BalanceResult.response(response),
      BalanceStore.Action.refreshEnded(1, .response(response), at: Self.now), [response],
      HookOutput<BalanceStore>.state(view),
      HookOutput<BalanceStore>.action(
        .refreshEnded(1, .response(response), at: Self.now), isFailure: false),
    ]
    for value in values {
      var dumped = ""
      dump(value, to: &dumped)
      for text in ["\(value)", String(reflecting: value), dumped] {
        #expect(!text.contains("77"))
        #expect(!text.contains("25"))
      }
    }
    #expect("\(response)" == "a balance of 2021-06-02T11:01:48Z")
  }
}
