// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import ServerCore
import Testing

@testable import Transports

@Suite("Coalescing of broadcasts")
struct BroadcastCoalescerTests {
  /// A loop whose time goes on where something is sent, and when the test says so.
  private final class Peers {
    let loop = EmbeddedEventLoop()
    let writes: WriteCoalescer
    let coalescer: BroadcastCoalescer
    var sent: [String] = []
    let turn = Turn()
    /// What was sent has taken so long, which the loop forgets where that went on while its time did.
    var taken = TimeAmount.zero

    init() {
      let channelLoop = ChannelLoop(loop)
      writes = WriteCoalescer(channelLoop)
      coalescer = BroadcastCoalescer(
        channelLoop, after: writes, turn: { [turn] body in turn.run(body) },
        whenDelivered: { [turn] body in turn.deliveries.append(body) })
      // Long after the beginning of time.
      loop.advanceTime(by: .hours(1))
    }

    func pass(_ microseconds: Int64) {
      loop.advanceTime(by: .microseconds(microseconds))
      catchUp()
    }

    func hear() {
      coalescer.willServe()
      // Not while the loop's time went on.
      taken = .zero
    }

    private func catchUp() {
      let taken = taken
      self.taken = .zero
      loop.advanceTime(by: taken)
    }

    /// Holds some texts back, as one turn.
    func turn(_ texts: Text...) {
      for text in texts { join(text) }
      loop.run()
      catchUp()
    }

    /// A turn ends with a text.
    func join(_ text: Text) { turn.run { coalescer.hold(text) } }
  }

  private final class Turn {
    private(set) var isRunning = false
    /// Done when it is over.
    var deliveries: [() -> Void] = []

    func run(_ body: () -> Void) {
      isRunning = true
      body()
      isRunning = false
      let ready = deliveries
      deliveries = []
      for deliver in ready { deliver() }
    }
  }

  private final class Text: PendingBroadcast {
    let name: String
    let peers: Peers
    let takes: TimeAmount
    var isHeld = false
    var isDue = false

    init(_ name: String, for peers: Peers, taking takes: TimeAmount = .zero) {
      (self.name, self.peers, self.takes) = (name, peers, takes)
    }

    func send() {
      #expect(peers.turn.isRunning)
      #expect(!isHeld)
      peers.turn.deliveries.append { [self] in
        peers.sent.append(name)
        peers.loop.advanceTime(by: takes)
        peers.taken = peers.taken + takes
      }
    }
  }

  @Test("what comes after a pause goes out with its turn")
  func alone() {
    let peers = Peers()
    let one = Text("one", for: peers)
    let other = Text("other", for: peers, taking: .microseconds(10))
    peers.turn(one, other)
    #expect(peers.sent == ["one", "other"])
    peers.pass(100)
    peers.turn(other)
    #expect(peers.sent == ["one", "other", "other"])
  }

  @Test("a pause is ten times as long as it took to send to all, and no longer than 10 ms")
  func stream() {
    let peers = Peers()
    let slow = Text("slow", for: peers, taking: .microseconds(100))
    let other = Text("other", for: peers, taking: .milliseconds(60))
    peers.turn(slow)
    peers.pass(100)
    peers.turn(slow)
    peers.pass(899)
    peers.turn(other)
    #expect(peers.sent == ["slow"])
    peers.pass(1)
    #expect(peers.sent == ["slow", "slow", "other"])
    // That has taken 60.1 milliseconds.
    peers.turn(slow)
    peers.pass(9_999)
    #expect(peers.sent.count == 3)
    peers.pass(1)
    #expect(peers.sent.count == 4)
  }

  @Test("a round that is due ends before another peer is worked for, and ends no other one")
  func dueRound() {
    let peers = Peers()
    let text = Text("text", for: peers, taking: .microseconds(100))
    // Its turn is not over.
    peers.join(text)
    peers.hear()
    #expect(peers.sent.count == 1)
    peers.turn(text)
    peers.hear()
    #expect(peers.sent.count == 1)
    peers.pass(999)
    peers.hear()
    #expect(peers.sent.count == 1)
    peers.pass(1)
    #expect(peers.sent.count == 2)
    peers.hear()
    #expect(peers.sent.count == 2)
  }

  @Test("a round that ends before its time is followed by a pause like any other")
  func early() {
    let peers = Peers()
    let text = Text("text", for: peers, taking: .microseconds(100))
    peers.turn(text)
    peers.turn(text)
    peers.pass(10)
    #expect(peers.sent.count == 1)
    peers.coalescer.sendNow()
    peers.taken = .zero
    #expect(peers.sent.count == 2)
    peers.turn(text)
    // When the one before would have ended.
    peers.pass(990)
    #expect(peers.sent.count == 2)
    peers.pass(10)
    #expect(peers.sent.count == 3)
  }

  @Test("a text waits once, for all turns that add to it until one makes it due")
  func dueText() {
    let peers = Peers()
    let text = Text("text", for: peers, taking: .microseconds(100))
    let other = Text("other", for: peers)
    peers.turn(text)
    peers.turn(text, other)
    peers.turn(other, text)
    #expect(peers.sent == ["text"])
    text.isDue = true
    peers.join(other)
    #expect(peers.sent == ["text"])
    peers.join(text)
    #expect(peers.sent == ["text", "text", "other"])
    #expect(!text.isHeld)
    peers.loop.run()
    peers.pass(10_000)
    #expect(peers.sent.count == 3)
  }

  @Test("answers go out before what is held back")
  func answers() {
    let peers = Peers()
    peers.writes.hold(Answered { peers.sent.append("answer") })
    peers.turn(Text("text", for: peers))
    peers.writes.hold(Answered { peers.sent.append("answer") })
    peers.join(Text("text", for: peers))
    peers.coalescer.sendNow()
    #expect(peers.sent == ["answer", "text", "answer", "text"])
  }

  /// A peer that is gone: sending to it handed over what it had still sent, in the middle of a round,
  /// which ended the round in the round. That was a trap.
  @Test("a round that ends while one ends sends to each once")
  func reentered() {
    let peers = Peers()
    func gone(_ name: String) -> Answered {
      Answered {
        peers.sent.append(name)
        peers.writes.willServe(64 << 10)
        peers.coalescer.willServe()
        peers.coalescer.sendNow()
      }
    }
    peers.writes.hold(gone("one"))
    peers.writes.hold(gone("two"))
    peers.join(Text("three", for: peers))
    peers.loop.run()
    #expect(peers.sent.sorted() == ["one", "three", "two"])
    // Nothing is left of it.
    peers.writes.hold(gone("four"))
    peers.loop.run()
    #expect(peers.sent.count == 4)
  }

  @Test("who joins while a round of answers ends is sent to as well")
  func joined() {
    let peers = Peers()
    let late = Answered { peers.sent.append("late") }
    peers.writes.hold(
      Answered {
        peers.sent.append("early")
        for _ in 0..<65 { peers.writes.hold(late) }
      })
    peers.writes.send()
    peers.loop.run()
    #expect(peers.sent == ["early"] + Array(repeating: "late", count: 65))
  }

  private final class Answered: CoalescedOutput {
    private let send: () -> Void
    init(_ send: @escaping () -> Void) { self.send = send }
    func flushCoalesced() { send() }
  }

  @Test("where nobody is left nobody is held")
  func abandoned() {
    let peers = Peers()
    weak var left: Text?
    do {
      let text = Text("text", for: peers, taking: .microseconds(100))
      left = text
      peers.turn(text)
      peers.turn(text)
    }
    #expect(left != nil)
    peers.coalescer.abandon()
    #expect(left == nil)
    peers.pass(10_000)
    #expect(peers.sent.count == 1)
  }
}
