// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireProtocol

/// The balance of an account: asked for, shown with the time of the answer, hidden while nobody
/// looks.
///
/// Of several refreshes only the newest is heard. Amounts are in the state and in what is answered,
/// and neither prints them.
public struct BalanceStore: StateMachine {
  public typealias Input = BalanceInput
  public typealias ViewState = BalanceViewState

  public enum Action: Equatable, Sendable {
    case refreshBegan(Generation, at: Timestamp)
    case refreshEnded(Generation, BalanceAnswer)
    case refreshCancelled(Generation)
    /// The date has changed, so that what was today is yesterday.
    case dayBegan(at: Timestamp)
    case setRedacted(Bool)
  }

  /// Counts the refreshes; what an older one says is not folded.
  public typealias Generation = Int

  public struct State: Codable, Equatable, Sendable {
    /// The latest refresh that has begun.
    public var generation: Generation = 0
    public var lastResponse: BalanceResponse?
    public var isRefreshing = false
    public var didFail = false
    public var isRedacted = false
    /// The time that texts are relative to: of today, once anything was asked for.
    public var now = Timestamp(secondsSinceEpoch: 0)

    public init() {}
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
    case .viewDidAppear, .refreshButtonWasTapped: refresh(state.generation + 1)
    case .willResignActive: .action(.setRedacted(true))
    case .didBecomeActive: .action(.setRedacted(false))
    }
  }

  public func input(for phase: LifecyclePhase) -> BalanceInput? {
    switch phase {
    case .active: .didBecomeActive
    case .inactive: .willResignActive
    }
  }

  public func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .refreshBegan(let generation, let now):
      state.generation = generation
      state.isRefreshing = true
      state.didFail = false
      state.now = now
    case .refreshEnded(state.generation, let answer):
      state.isRefreshing = false
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
    case .setRedacted(let isRedacted):
      state.isRedacted = isRedacted
    }
  }

  public func isRedaction(_ action: Action) -> Bool { action == .setRedacted(true) }

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

  private func refresh(_ generation: Generation) -> Effect<Action> {
    .deferred { [service, zone] clock in
      let now = Timestamp(sinceEpoch: clock.sinceEpoch)
      return .several(
        // Before the older refresh is cancelled, so that it no longer counts when it says so.
        .action(.refreshBegan(generation, at: now)),
        service.balance()
          .compactMap { .refreshEnded(generation, $0) }
          .operation("balance", failing: .refreshEnded(generation, .failed))
          .onCancel(.refreshCancelled(generation))
          .latest("refresh"),
        DayFeed(zone: zone).effect(from: now) { .dayBegan(at: $0) })
    }
  }
}
