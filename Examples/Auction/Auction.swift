// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// An auction that all sessions share. The seller sees all bids, a bidder the highest one and those
/// that this bidder placed.
struct Auction: StateMachine {
  enum Input: Codable, Sendable {
    case offered(item: String, price: Int, seconds: Int)
    case bidPlaced(amount: Int)
    /// Sent by the server; refused to clients.
    case watchersChanged(names: [String])
  }
  enum Action: Equatable, Sendable {
    case opened(Lot, seconds: Int)
    case bid(Bid)
    case ticked
    case watchersChanged([String])
  }
  enum Event: Codable, Equatable, Sendable {
    case sold(item: String, bidder: String, amount: Int)
    case unsold(item: String)
  }

  struct Lot: Codable, Equatable, Sendable {
    let item: String
    let seller: String
    let price: Int
  }
  struct Bid: Codable, Equatable, Sendable {
    let bidder: String
    let amount: Int
  }
  struct State: Codable, Equatable, Sendable {
    var lot: Lot?
    var bids: [Bid] = []
    var secondsLeft = 0
    var watchers: [String] = []

    var isOpen: Bool { secondsLeft > 0 }
    /// The lowest amount of the next bid.
    var minimum: Int { bids.last.map { $0.amount + 1 } ?? lot?.price ?? 0 }
  }
  struct ViewState: Codable, Equatable, Sendable {
    let lot: Lot?
    let highest: Int?
    /// Nil until the auction has ended.
    let winner: String?
    /// The bids that the viewer may see.
    let bids: [Bid]
    let secondsLeft: Int
    let watchers: [String]
  }

  let initialState = State()

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .opened(let lot, let seconds):
      (state.lot, state.bids, state.secondsLeft) = (lot, [], seconds)
    case .bid(let bid): state.bids.append(bid)
    case .ticked: state.secondsLeft -= 1
    case .watchersChanged(let names): state.watchers = names
    }
  }

  func effect(after action: Action, in state: State) -> Effect<Action> {
    action == .ticked && !state.isOpen ? .cancel("clock") : .none
  }

  func event(of action: Action, in state: State) -> Event? {
    guard action == .ticked, !state.isOpen, let lot = state.lot else { return nil }
    guard let bid = state.bids.last else { return .unsold(item: lot.item) }
    return .sold(item: lot.item, bidder: bid.bidder, amount: bid.amount)
  }
}

extension Viewer {
  /// The identity, which the server has checked. On a server without tokens it is the name that the
  /// client chose.
  var person: String { identity ?? name ?? "guest" }
}

// MARK: - Inputs

extension Auction: ViewerAwareMachine {
  func refusal(of input: Input, in state: State, from viewer: Viewer) -> InputRefusal? {
    switch input {
    case .offered where state.isOpen: InputRefusal(.value, "an auction runs already")
    case .offered("", _, _): InputRefusal(.value, "the item needs a name", member: "item")
    case .offered(_, let price, _) where !(1...1_000_000).contains(price):
      InputRefusal(.value, "a price is 1 to 1000000", member: "price")
    case .offered(_, _, let seconds) where !(1...3600).contains(seconds):
      InputRefusal(.value, "an auction takes 1 to 3600 seconds", member: "seconds")
    case .bidPlaced where !state.isOpen: InputRefusal(.value, "no auction runs")
    case .bidPlaced where viewer.person == state.lot?.seller:
      InputRefusal(.value, "the seller cannot bid")
    case .bidPlaced(let amount) where amount < state.minimum || amount > 1_000_000_000:
      InputRefusal(.value, "the bid is too low or too high", member: "amount")
    default: nil
    }
  }

  func effect(of input: Input, in state: State, from viewer: Viewer) -> Effect<Action> {
    switch input {
    case .offered(let item, let price, let seconds):
      let lot = Lot(item: item, seller: viewer.person, price: price)
      return .several(.action(.opened(lot, seconds: seconds)), clock)
    case .bidPlaced(let amount):
      return .action(.bid(Bid(bidder: viewer.person, amount: amount)))
    case .watchersChanged(let names): return .action(.watchersChanged(names))
    }
  }

  private var clock: Effect<Action> { .ticks("clock", every: .seconds(1)) { .ticked } }
}

// MARK: - Views

extension Auction: AudienceMachine {
  func audience(of viewer: Viewer) -> String { viewer.person }

  func view(of state: State, for person: String) -> ViewState {
    let seesAll = person == state.lot?.seller || !state.isOpen
    return ViewState(
      lot: state.lot, highest: state.bids.last?.amount,
      winner: state.isOpen ? nil : state.bids.last?.bidder,
      bids: seesAll ? state.bids : state.bids.filter { $0.bidder == person },
      secondsLeft: state.secondsLeft, watchers: state.watchers)
  }

  func view(of state: State) -> ViewState { view(of: state, for: "guest") }
}

extension Auction: PresenceAwareMachine {
  func input(for viewers: [Viewer]) -> Input? {
    .watchersChanged(names: Set(viewers.map(\.person)).sorted())
  }
}

// MARK: - Restarts

extension Auction: DurableMachine {
  func restart(of input: Input, in state: State, after elapsed: Duration) -> Effect<Action> {
    .none
  }

  /// The auction continues with the time that was left. No viewer is there yet.
  func resumption(in state: State) -> Effect<Action> {
    .several(.action(.watchersChanged([])), state.isOpen ? clock : .none)
  }
}
