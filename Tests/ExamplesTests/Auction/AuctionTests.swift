// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StateMachinesTesting
import Testing

@testable import Auction

@Suite("The auction example")
struct AuctionTests {
  private let sue = Viewer(name: "sue")
  private let ann = Viewer(identity: "ann", name: "phone")
  private let bob = Viewer(name: "bob")

  /// An auction of two seconds, with a bid of ann and a higher one of bob.
  private func started() async throws -> TestStore<Auction> {
    let store = TestStore(Auction())
    try await store.send(.offered(item: "Vase", price: 10, seconds: 2), from: sue) {
      $0.lot = Auction.Lot(item: "Vase", seller: "sue", price: 10)
      $0.secondsLeft = 2
    }
    try await store.send(.bidPlaced(amount: 10), from: ann) {
      $0.bids = [Auction.Bid(bidder: "ann", amount: 10)]
    }
    try await store.send(.bidPlaced(amount: 12), from: bob) {
      $0.bids.append(Auction.Bid(bidder: "bob", amount: 12))
    }
    return store
  }

  @Test("shows all bids to the seller, and to a bidder the highest bid and the own ones")
  func views() async throws {
    let store = try await started()
    #expect(await store.view(for: sue).bids.map(\.bidder) == ["ann", "bob"])
    #expect(await store.view(for: ann).bids.map(\.bidder) == ["ann"])
    #expect(await store.view(for: Viewer()).bids.isEmpty)
    for viewer in [sue, ann, Viewer()] {
      let view = await store.view(for: viewer)
      #expect(view.highest == 12 && view.winner == nil)
    }
    await store.cancelAll()
  }

  @Test("refuses bids that are too low, and those of the seller")
  func refusals() async throws {
    let store = try await started()
    #expect(try await store.send(.bidPlaced(amount: 12), from: ann, refused: .value).member != nil)
    try await store.send(.bidPlaced(amount: 13), from: sue, refused: .value)
    try await store.send(.offered(item: "Cup", price: 1, seconds: 1), from: ann, refused: .value)
    try await store.send(.watchersChanged(names: ["ann"]), from: ann, refused: .value)
    try await store.send(.watchersChanged(names: ["ann"])) { $0.watchers = ["ann"] }
    await store.cancelAll()
  }

  @Test("ends when its time is over, also after a restart, and shows the bids to all")
  func end() async throws {
    let store = try await started()
    try await store.advance(by: .seconds(1))
    try await store.receive(.ticked) { $0.secondsLeft = 1 }
    try await store.restart()
    try await store.advance(by: .seconds(5))
    try await store.receive(.ticked) { $0.secondsLeft = 0 }
    try await store.receive(event: .sold(item: "Vase", bidder: "bob", amount: 12))
    #expect(await store.view(for: ann).winner == "bob")
    #expect(await store.view(for: ann).bids.count == 2)
    try await store.send(.bidPlaced(amount: 13), from: ann, refused: .value)
    try await store.finish()
  }
}
