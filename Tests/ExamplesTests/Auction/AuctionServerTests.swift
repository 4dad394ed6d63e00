// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireJSON
import TestSupport
import Testing

@Suite("The auction server", .timeLimit(.minutes(15)))
struct AuctionServerTests {
  private static let offer = #"{"type":"offered","item":"Vase","price":10,"seconds":60}"#

  @Test("shows each session its own view of one auction")
  func views() async throws {
    let server = try ExampleServer("Auction")
    let sue = try await server.client(named: "sue")
    let ann = try await server.client(named: "ann")
    let bob = try await server.client(named: "bob")
    for client in [sue, ann, bob] { try await client.subscribe(to: "auction") }
    try await sue.reaches("/watchers", ["ann", "bob", "sue"])
    try await sue.input(Self.offer, to: "auction")
    let result = try await ann.input(#"{"type":"bidPlaced","amount":11}"#, to: "auction")
    #expect(result["changed"] == true, "\(result)")
    try await bob.input(#"{"type":"bidPlaced","amount":12}"#, to: "auction")
    for client in [sue, ann, bob] { try await client.reaches("/highest", 12) }
    let bidders = [sue, ann, bob].map { client in
      client.state["bids"]?.array?.compactMap { $0["bidder"]?.string } ?? []
    }
    #expect(bidders == [["ann", "bob"], ["ann"], ["bob"]])
    await bob.close()
    try await ann.reaches("/watchers", ["ann", "sue"])
  }

  @Test("refuses senders without a name, bids that are too low, and inputs of the server")
  func refusals() async throws {
    let server = try ExampleServer("Auction")
    let guest = try await server.client()
    try await guest.subscribe(to: "auction")
    let forbidden = try await guest.input(Self.offer, to: "auction")
    #expect(forbidden.description.contains(#""code":-32020"#), "\(forbidden)")
    // Under a name the guest would see another view than the one it has subscribed to.
    let named = try await guest.call("session/open", #"{"frontend":"guest 1"}"#)
    #expect(named["error"]?["code"] == -32020, "\(named)")
    #expect(named["error"]?["data"]?["reason"] == "value", "\(named)")
    try await guest.call("store/unsubscribe", #"{"store":"auction"}"#)
    let opened = try await guest.call("session/open", #"{"frontend":"guest 1"}"#)
    #expect(opened["session"] != nil, "\(opened)")
    let sue = try await server.client(named: "sue")
    try await sue.input(Self.offer, to: "auction")
    let ann = try await server.client(named: "ann")
    for input in [
      #"{"type":"bidPlaced","amount":9}"#, Self.offer, #"{"type":"watchersChanged","names":[]}"#,
    ] {
      let refused = try await ann.input(input, to: "auction")
      #expect(refused.description.contains(#""code":-32602"#), "\(input): \(refused)")
    }
  }

  @Test("ends an auction by time, with an event")
  func end() async throws {
    let server = try ExampleServer("Auction", "--test")
    let sue = try await server.client(named: "sue")
    let ann = try await server.client(named: "ann")
    for client in [sue, ann] { try await client.subscribe(to: "auction") }
    try await sue.input(Self.offer, to: "auction")
    try await ann.input(#"{"type":"bidPlaced","amount":11}"#, to: "auction")
    try await ann.call("test/advanceClock", #"{"by":100}"#)
    #expect(ann.state["winner"] == "ann" && ann.state["secondsLeft"] == 0)
    #expect(ann.events == [["type": "sold", "item": "Vase", "bidder": "ann", "amount": 11]])
    let late = try await ann.input(#"{"type":"bidPlaced","amount":12}"#, to: "auction")
    #expect(late.description.contains(#""code":-32602"#), "\(late)")
  }

  @Test("keeps the auction when it is killed, and knows bidders by their tokens")
  func killed() async throws {
    let folder = try TestFolder()
    let tokens = folder.path + "/tokens"
    try "sue 0123456789abcdef\nann fedcba9876543210\n"
      .write(toFile: tokens, atomically: true, encoding: .utf8)
    #expect(chmod(tokens, 0o600) == 0)
    func start() throws -> ExampleServer {
      try ExampleServer("Auction", "--token-file", tokens, "--data-dir", folder.path + "/data")
    }
    let server = try start()
    let sue = try await server.client(token: "0123456789abcdef")
    let ann = try await server.client(named: "sue", token: "fedcba9876543210")
    for client in [sue, ann] { try await client.subscribe(to: "auction") }
    try await sue.input(Self.offer, to: "auction")
    try await ann.input(#"{"type":"bidPlaced","amount":11}"#, to: "auction")
    #expect(ann.state["lot"]?["seller"] == "sue")
    server.kill()

    let later = try start()
    let again = try await later.client(token: "fedcba9876543210")
    try await again.subscribe(to: "auction")
    #expect(again.state["bids"] == [["bidder": "ann", "amount": 11]])
    try await again.reaches("/watchers", ["ann"])
    let left = try #require(again.state["secondsLeft"])
    #expect(left != 0)
    // The clock runs on.
    while again.state["secondsLeft"] == left { try await again.awaitUpdate() }
    let low = try await again.input(#"{"type":"bidPlaced","amount":11}"#, to: "auction")
    #expect(low.description.contains(#""code":-32602"#), "\(low)")
  }
}
