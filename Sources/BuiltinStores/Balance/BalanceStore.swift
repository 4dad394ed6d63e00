// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

/// The balance of an account, with the time of the response; hidden while no frontend is active.
///
/// Of several refreshes only the newest is folded. Amounts are in the state and in the responses,
/// and neither prints them.
///
/// Texts are relative to today. The store reads the date when it becomes visible and with each
/// refresh; while it is visible a feed (`DayFeed`) reports when the date changes.
public struct BalanceStore: StateMachine {
  public typealias Input = BalanceInput
  public typealias ViewState = BalanceViewState

  public enum Action: Equatable, Sendable {
    case refreshBegan(Generation, at: Timestamp)
    case refreshEnded(Generation, BalanceAnswer, at: Timestamp)
    case refreshCancelled(Generation)
    /// The date has changed, so that what was today is yesterday.
    case dayBegan(at: Timestamp)
    case hide(Reason)
    case unhide(Reason, at: Timestamp)
  }

  /// Why amounts are hidden. They are visible while there is no reason to hide them.
  public enum Reason: Equatable, Sendable {
    /// A frontend has sent `willResignActive`.
    case input
    /// No frontend of the session is active.
    case lifecycle
  }

  /// Counts the refreshes; what an older one says is not folded.
  public typealias Generation = Int

  public struct State: Codable, Equatable, Sendable {
    /// The latest refresh that has begun.
    public var generation: Generation = 0
    public var lastResponse: BalanceResponse?
    public var isRefreshing = false
    public var didFail = false
    /// Whether `willResignActive` came last of the two inputs about it.
    public var isResigned = false
    /// Whether no frontend of the session is active.
    public var isInactive = false
    /// A time today, which texts are relative to; not kept up to date while no date is visible.
    public var now = Timestamp(secondsSinceEpoch: 0)

    public init() {}

    /// Whether amounts are hidden.
    public var isRedacted: Bool { isResigned || isInactive }

    /// Whether a frontend may see a text that depends on the date.
    var showsDates: Bool { generation > 0 && !isRedacted }
  }

  public let initialState = State()
  private let service: any BalanceService
  let zone: TimeZoneRule
  private let dates: RelativeDateFormat

  /// - Parameters:
  ///   - service: Knows the balance.
  ///   - zone: Where the people are that read the texts.
  ///   - dates: How they are told the time of a response.
  public init(
    service: any BalanceService, zone: TimeZoneRule = .utc, dates: RelativeDateFormat = .english
  ) {
    self.service = service
    self.zone = zone
    self.dates = dates
  }

  public func effect(of input: BalanceInput, in state: State) -> Effect<Action> {
    switch input {
    case .viewDidAppear, .refreshButtonWasTapped: refresh(state)
    case .willResignActive: hide(.input)
    case .didBecomeActive: unhide(.input, state)
    case .frontendsBecameInactive: hide(.lifecycle)
    case .frontendsBecameActive: unhide(.lifecycle, state)
    }
  }

  public func input(for phase: LifecyclePhase) -> BalanceInput? {
    switch phase {
    case .active: .frontendsBecameActive
    case .inactive: .frontendsBecameInactive
    }
  }

  public func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .refreshBegan(let generation, let now):
      state.generation = generation
      state.isRefreshing = true
      state.didFail = false
      state.now = now
    case .refreshEnded(state.generation, let answer, let now):
      state.isRefreshing = false
      state.now = now
      switch answer {
      case .response(let response): state.lastResponse = response
      case .failed: state.didFail = true
      }
    case .refreshCancelled(state.generation):
      state.isRefreshing = false
    case .refreshEnded, .refreshCancelled:
      break  // Of an older refresh.
    case .dayBegan(let now):
      state.now = now
    case .hide(let reason):
      state.set(reason, true)
    case .unhide(let reason, let now):
      state.set(reason, false)
      state.now = now
    }
  }

  public func isRedaction(_ action: Action) -> Bool {
    if case .hide = action { true } else { false }
  }

  public func view(of state: State) -> BalanceViewState {
    let shown = state.isRedacted ? nil : state.lastResponse
    return BalanceViewState(
      title: Text.Balance.title,
      lastResponse: shown,
      isRefreshing: state.isRefreshing,
      didFail: state.didFail,
      isRedacted: state.isRedacted,
      formattedBalance: shown.map { USDollars.text($0.balance) } ?? Text.Balance.noBalance,
      infoText: infoText(of: state),
      infoColor: state.didFail ? .failure : .regular)
  }

  /// The same while redacted: it has no amount in it.
  private func infoText(of state: State) -> String {
    let event: String? =
      if state.didFail {
        Text.Balance.failed
      } else if state.isRefreshing {
        Text.Balance.refreshing
      } else {
        nil
      }
    let lastUpdate = state.lastResponse.map {
      Text.Balance.lastUpdate(dates.text(for: $0.date, now: state.now, in: zone))
    }
    return switch (event, lastUpdate) {
    case (let event?, let lastUpdate?): String(parts: event, " ", lastUpdate)
    default: event ?? lastUpdate ?? ""
    }
  }

  private func refresh(_ state: State) -> Effect<Action> {
    .deferred { [self, generation = state.generation + 1, isRedacted = state.isRedacted] clock in
      let now = Timestamp(sinceEpoch: clock.sinceEpoch)
      return .several(
        // Before the older refresh is cancelled, so that it no longer counts when it says so.
        .action(.refreshBegan(generation, at: now)),
        service.balance()
          .compactMap { answer in
            .refreshEnded(generation, answer, at: Timestamp(sinceEpoch: clock.sinceEpoch))
          }
          .operation(
            "balance", failing: .refreshEnded(generation, .failed, at: now), when: Self.hasFailed
          )
          .onCancel(.refreshCancelled(generation))
          .latest("refresh"),
        isRedacted ? .none : days(from: now))
    }
  }

  private static func hasFailed(_ action: Action) -> Bool {
    if case .refreshEnded(_, .failed, _) = action { true } else { false }
  }

  private func hide(_ reason: Reason) -> Effect<Action> {
    .several(.action(.hide(reason)), .cancel(DayFeed.id))
  }

  private func unhide(_ reason: Reason, _ state: State) -> Effect<Action> {
    var next = state
    next.set(reason, false)
    return .deferred { [self, showsDates = next.showsDates] clock in
      let now = Timestamp(sinceEpoch: clock.sinceEpoch)
      let unhide = Effect.action(Action.unhide(reason, at: now))
      return showsDates ? .several(unhide, days(from: now)) : unhide
    }
  }

  /// The feed of the days after a time.
  func days(from now: Timestamp) -> Effect<Action> {
    DayFeed(zone: zone).effect(from: now) { .dayBegan(at: $0) }
  }
}

extension BalanceStore.State {
  fileprivate mutating func set(_ reason: BalanceStore.Reason, _ isHidden: Bool) {
    switch reason {
    case .input: isResigned = isHidden
    case .lifecycle: isInactive = isHidden
    }
  }
}
