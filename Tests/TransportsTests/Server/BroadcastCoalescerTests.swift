// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import ServerCore
import Testing

@testable import Transports

@Suite("Coalescing of broadcasts")
struct BroadcastCoalescerTests {
  /// A loop whose clock advances during each send, and when the test advances it.
  private final class Peers {
    let loop = EmbeddedEventLoop()
    let writes: WriteCoalescer
    let coalescer: BroadcastCoalescer
    var sent: [String] = []
    let turn = Turn()
    /// The time that sends have taken. The embedded loop forgets the advance of a send that runs
    /// while the loop itself advances.
    var taken = TimeAmount.zero

    init() {
      let channelLoop = ChannelLoop(loop)
      writes = WriteCoalescer(channelLoop)
      coalescer = BroadcastCoalescer(
        channelLoop, after: writes, turn: { [turn] body in turn.run(body) },
        whenDelivered: { [turn] body in turn.deliveries.append(body) })
      // So that the clock is not near zero.
      loop.advanceTime(by: .hours(1))
    }

    func pass(_ microseconds: Int64) {
      loop.advanceTime(by: .microseconds(microseconds))
      catchUp()
    }

    func willServe() {
      coalescer.willServe()
      // The clock has not been advanced by the loop here.
      taken = .zero
    }

    private func catchUp() {
      let taken = taken
      self.taken = .zero
      loop.advanceTime(by: taken)
    }

    /// Delays some broadcasts, in one turn.
    func turn(_ texts: Broadcast...) {
      for text in texts { join(text) }
      loop.run()
      catchUp()
    }

    /// Ends a turn that has changed a broadcast.
    func join(_ text: Broadcast) { turn.run { coalescer.hold(text) } }
  }

  private final class Turn {
    private(set) var isRunning = false
    /// Performed when the turn is over.
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

  private final class Broadcast: PendingBroadcast {
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

  @Test("after a pause, broadcasts are sent with their turn")
  func alone() {
    let peers = Peers()
    let one = Broadcast("one", for: peers)
    let other = Broadcast("other", for: peers, taking: .microseconds(10))
    peers.turn(one, other)
    #expect(peers.sent == ["one", "other"])
    peers.pass(100)
    peers.turn(other)
    #expect(peers.sent == ["one", "other", "other"])
  }

  @Test("a pause is ten times as long as the last send to all clients, and at most 10 ms")
  func stream() {
    let peers = Peers()
    let slow = Broadcast("slow", for: peers, taking: .microseconds(100))
    let other = Broadcast("other", for: peers, taking: .milliseconds(60))
    peers.turn(slow)
    peers.pass(100)
    peers.turn(slow)
    peers.pass(899)
    peers.turn(other)
    #expect(peers.sent == ["slow"])
    peers.pass(1)
    #expect(peers.sent == ["slow", "slow", "other"])
    // The sends took 60.1 milliseconds.
    peers.turn(slow)
    peers.pass(9_999)
    #expect(peers.sent.count == 3)
    peers.pass(1)
    #expect(peers.sent.count == 4)
  }

  @Test("broadcasts that are due are sent before another client is served, and only those")
  func dueBroadcasts() {
    let peers = Peers()
    let text = Broadcast("text", for: peers, taking: .microseconds(100))
    // The loop has not run yet.
    peers.join(text)
    peers.willServe()
    #expect(peers.sent.count == 1)
    peers.turn(text)
    peers.willServe()
    #expect(peers.sent.count == 1)
    peers.pass(999)
    peers.willServe()
    #expect(peers.sent.count == 1)
    peers.pass(1)
    #expect(peers.sent.count == 2)
    peers.willServe()
    #expect(peers.sent.count == 2)
  }

  @Test("an early send is followed by a pause, like any other send")
  func early() {
    let peers = Peers()
    let text = Broadcast("text", for: peers, taking: .microseconds(100))
    peers.turn(text)
    peers.turn(text)
    peers.pass(10)
    #expect(peers.sent.count == 1)
    peers.coalescer.sendNow()
    peers.taken = .zero
    #expect(peers.sent.count == 2)
    peers.turn(text)
    // The time at which the previous pause would have ended.
    peers.pass(990)
    #expect(peers.sent.count == 2)
    peers.pass(10)
    #expect(peers.sent.count == 3)
  }

  @Test("a broadcast is delayed once for all turns that add to it, until a turn makes it due")
  func dueText() {
    let peers = Peers()
    let text = Broadcast("text", for: peers, taking: .microseconds(100))
    let other = Broadcast("other", for: peers)
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

  @Test("responses are sent before delayed broadcasts")
  func responses() {
    let peers = Peers()
    peers.writes.hold(Output { peers.sent.append("answer") })
    peers.turn(Broadcast("text", for: peers))
    peers.writes.hold(Output { peers.sent.append("answer") })
    peers.join(Broadcast("text", for: peers))
    peers.coalescer.sendNow()
    #expect(peers.sent == ["answer", "text", "answer", "text"])
  }

  /// A client that has disconnected. Writing to it read its last bytes, during a flush, and these
  /// started another flush. That was a trap.
  @Test("a flush during a flush sends to each client once")
  func reentered() {
    let peers = Peers()
    func gone(_ name: String) -> Output {
      Output {
        peers.sent.append(name)
        peers.writes.willServe(64 << 10)
        peers.coalescer.willServe()
        peers.coalescer.sendNow()
      }
    }
    peers.writes.hold(gone("one"))
    peers.writes.hold(gone("two"))
    peers.join(Broadcast("three", for: peers))
    peers.loop.run()
    #expect(peers.sent.sorted() == ["one", "three", "two"])
    // The earlier outputs are not sent again.
    peers.writes.hold(gone("four"))
    peers.loop.run()
    #expect(peers.sent.count == 4)
  }

  @Test("outputs that are added during a flush are flushed, too")
  func joined() {
    let peers = Peers()
    let late = Output { peers.sent.append("late") }
    peers.writes.hold(
      Output {
        peers.sent.append("early")
        for _ in 0..<65 { peers.writes.hold(late) }
      })
    peers.writes.send()
    peers.loop.run()
    #expect(peers.sent == ["early"] + Array(repeating: "late", count: 65))
  }

  private final class Output: CoalescedOutput {
    private let send: () -> Void
    init(_ send: @escaping () -> Void) { self.send = send }
    func flushCoalesced() { send() }
  }

  @Test("the coalescer releases its broadcasts when it is abandoned")
  func abandoned() {
    let peers = Peers()
    weak var left: Broadcast?
    do {
      let text = Broadcast("text", for: peers, taking: .microseconds(100))
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
