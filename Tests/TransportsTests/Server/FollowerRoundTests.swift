// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import Testing

@testable import Transports

@Suite("Rounds of those who look on")
struct FollowerRoundTests {
  /// A loop whose time goes on where something is sent, and when the test says so.
  private final class Peers {
    let loop = EmbeddedEventLoop()
    let round: FollowerRound
    var sent: [String] = []

    init() {
      round = FollowerRound(loop)
      // Long after the beginning of time.
      loop.advanceTime(by: .hours(1))
    }

    func pass(_ microseconds: Int64) { loop.advanceTime(by: .microseconds(microseconds)) }

    /// Holds something back for some peers, as one turn.
    func turn(_ peers: Peer...) {
      for peer in peers { round.join(peer) }
      loop.run()
    }
  }

  private final class Peer: Follower {
    let name: String
    let peers: Peers
    let takes: TimeAmount

    init(_ name: String, of peers: Peers, taking takes: TimeAmount = .zero) {
      (self.name, self.peers, self.takes) = (name, peers, takes)
    }

    func sendHeld() {
      peers.sent.append(name)
      peers.loop.advanceTime(by: takes)
    }
  }

  @Test("what comes after a rest goes out with its turn")
  func rest() {
    let peers = Peers()
    let (one, other) = (Peer("one", of: peers), Peer("other", of: peers))
    peers.turn(one, other)
    #expect(peers.sent == ["one", "other"])
    peers.pass(10_001)
    peers.turn(other)
    #expect(peers.sent == ["one", "other", "other"])
  }

  @Test("in a stream a round takes four times as long as it took to send to all, and no longer")
  func stream() {
    let peers = Peers()
    let slow = Peer("slow", of: peers, taking: .microseconds(100))
    peers.turn(slow)
    peers.pass(1)
    let other = Peer("other", of: peers, taking: .milliseconds(60))
    peers.turn(slow)
    peers.pass(399)
    peers.turn(other)
    #expect(peers.sent == ["slow"])
    peers.pass(1)
    #expect(peers.sent == ["slow", "slow", "other"])
    // That has taken 60.1 milliseconds.
    peers.turn(slow)
    peers.pass(3_999)
    #expect(peers.sent.count == 3)
    peers.pass(1)
    #expect(peers.sent.count == 4)
  }

  @Test("enough that waits ends a round with the turn, once")
  func hurry() {
    let peers = Peers()
    let peer = Peer("peer", of: peers, taking: .milliseconds(1))
    peers.turn(peer)
    peers.turn(peer)
    #expect(peers.sent.count == 1)
    peers.round.hurry()
    peers.round.hurry()
    #expect(peers.sent.count == 1)
    peers.loop.run()
    #expect(peers.sent.count == 2)
    // The round that was cut short ends no other one.
    peers.pass(2_000)
    peers.turn(peer)
    peers.pass(3_999)
    #expect(peers.sent.count == 2)
    peers.pass(1)
    #expect(peers.sent.count == 3)
  }
}
