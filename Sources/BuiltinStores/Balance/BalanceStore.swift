// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol
public import StateMachines

/// The balance of an account, with the time of the response. It is hidden while no frontend is
/// active.
///
/// If there are several refreshes, only the newest one is folded. Amounts are in the state and in
/// the responses; neither type prints them.
///
/// Texts are relative to the current date. The store reads the date when the amounts become visible
/// and with each refresh. While a frontend is active, a feed (`DayFeed`) reports when the date
/// changes.
public struct BalanceStore: StateMachine {
  /// The inputs of kind `balance`.
  public typealias Input = BalanceInput
  /// The view state of kind `balance`.
  public typealias ViewState = BalanceViewState

  /// An action of the balance.
  public enum Action: Equatable, Sendable {
    /// A refresh begins.
    case refreshBegan(Generation, at: Timestamp)
    /// A refresh ends with a result.
    case refreshEnded(Generation, BalanceResult, at: Timestamp)
    /// A refresh was cancelled.
    case refreshCancelled(Generation)
    /// The date has changed: the text of a time that was "Today" becomes "Yesterday".
    case dayBegan(at: Timestamp)
    /// A reason to hide the amounts begins.
    case hide(Reason)
    /// A reason to hide the amounts ends.
    case unhide(Reason, at: Timestamp)
  }

  /// A reason to hide the amounts. They are visible while there is none.
  public enum Reason: Equatable, Sendable {
    /// A frontend has sent `willResignActive`.
    case input
    /// No frontend of the session is active.
    case lifecycle
  }

  /// The number of a refresh. Results of refreshes with an older number are ignored.
  public typealias Generation = Int

  /// The folded state of the balance.
  public struct State: Codable, Equatable, Sendable {
    /// The number of the latest refresh that has begun.
    public var generation: Generation = 0
    /// The response of the last refresh that succeeded; nil if there is none.
    public var lastResponse: BalanceResponse?
    /// True while a refresh runs.
    public var isRefreshing = false
    /// True if the last refresh failed.
    public var didFail = false
    /// True if the last of `willResignActive` and `didBecomeActive` was `willResignActive`.
    public var isResigned = false
    /// True while no frontend of the session is active.
    public var isInactive = false
    /// A time of the current date, to which texts are relative. It is not updated while no frontend
    /// is active.
    public var now = Timestamp(secondsSinceEpoch: 0)

    /// Creates the initial state.
    public init() {}

    /// True while amounts are hidden.
    public var isRedacted: Bool { isResigned || isInactive }

    /// True while a frontend may see a text that depends on the date. Such a text has no amount, so
    /// it is visible while the amounts are hidden.
    var showsDates: Bool { generation > 0 && !isInactive }
  }

  /// The state before the first refresh.
  public let initialState = State()
  private let service: any BalanceService
  let zone: TimeZoneRule
  private let dates: RelativeDateFormat

  /// Creates the machine.
  ///
  /// - Parameters:
  ///   - service: The source of the balance.
  ///   - zone: The time zone of the texts.
  ///   - dates: The format of times in texts.
  public init(
    service: any BalanceService, zone: TimeZoneRule = .utc, dates: RelativeDateFormat = .english
  ) {
    self.service = service
    self.zone = zone
    self.dates = dates
  }

  /// Returns the effect of an input in the current state.
  public func effect(of input: BalanceInput, in state: State) -> Effect<Action> {
    switch input {
    case .viewDidAppear, .refreshButtonWasTapped: refresh(state)
    case .willResignActive: .action(.hide(.input))
    case .didBecomeActive: unhide(.input)
    case .frontendsBecameInactive: .several(.action(.hide(.lifecycle)), .cancel(DayFeed.id))
    case .frontendsBecameActive: .several(unhide(.lifecycle), becameActive(state))
    }
  }

  /// Returns the input that hides or shows the amounts.
  public func input(for phase: LifecyclePhase) -> BalanceInput? {
    switch phase {
    case .active: .frontendsBecameActive
    case .inactive: .frontendsBecameInactive
    }
  }

  /// Folds one action into the state.
  public func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .refreshBegan(let generation, let now):
      state.generation = generation
      state.isRefreshing = true
      state.didFail = false
      state.now = now
    case .refreshEnded(state.generation, let result, let now):
      state.isRefreshing = false
      state.now = now
      switch result {
      case .response(let response): state.lastResponse = response
      case .failed: state.didFail = true
      }
    case .refreshCancelled(state.generation):
      state.isRefreshing = false
    case .refreshEnded, .refreshCancelled:
      break  // The result of an older refresh.
    case .dayBegan(let now):
      state.now = now
    case .hide(let reason):
      state.set(reason, true)
    case .unhide(let reason, let now):
      state.set(reason, false)
      state.now = now
    }
  }

  /// Returns true for an action that hides the amounts.
  public func isRedaction(_ action: Action) -> Bool {
    if case .hide = action { true } else { false }
  }

  /// Returns the view state of a state, without amounts while they are hidden.
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

  /// Returns the info text. It is the same while redacted, because it contains no amount.
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
    .deferred { [self, generation = state.generation + 1, isInactive = state.isInactive] clock in
      let now = Timestamp(sinceEpoch: clock.sinceEpoch)
      return .several(
        // Before the older refresh is cancelled: its `refreshCancelled` then has an old generation.
        .action(.refreshBegan(generation, at: now)),
        service.balance()
          .compactMap { result in
            .refreshEnded(generation, result, at: Timestamp(sinceEpoch: clock.sinceEpoch))
          }
          .operation(
            "balance", failing: .refreshEnded(generation, .failed, at: now), when: Self.hasFailed
          )
          .onCancel(.refreshCancelled(generation))
          .latest("refresh"),
        isInactive ? .none : days(from: now))
    }
  }

  private static func hasFailed(_ action: Action) -> Bool {
    if case .refreshEnded(_, .failed, _) = action { true } else { false }
  }

  private func unhide(_ reason: Reason) -> Effect<Action> {
    .deferred { clock in .action(.unhide(reason, at: Timestamp(sinceEpoch: clock.sinceEpoch))) }
  }

  /// Returns the feed of date changes, unless no text depends on the date yet.
  private func becameActive(_ state: State) -> Effect<Action> {
    guard state.generation > 0 else { return .none }
    return .deferred { [self] clock in days(from: Timestamp(sinceEpoch: clock.sinceEpoch)) }
  }

  /// Returns the feed of the dates after a time.
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
