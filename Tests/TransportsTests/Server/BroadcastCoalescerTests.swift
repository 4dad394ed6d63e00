// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import ServerCore
import Testing

@testable import Transports

@Suite("Coalescing of broadcasts")
struct BroadcastCoalescerTests {
  /// Clients of one loop, whose clock advances during each send, and when the test advances it.
  private final class Clients {
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
    let clients: Clients
    let takes: TimeAmount
    var isHeld = false
    var isDue = false

    init(_ name: String, for clients: Clients, taking takes: TimeAmount = .zero) {
      (self.name, self.clients, self.takes) = (name, clients, takes)
    }

    func send() {
      #expect(clients.turn.isRunning)
      #expect(!isHeld)
      clients.turn.deliveries.append { [self] in
        clients.sent.append(name)
        clients.loop.advanceTime(by: takes)
        clients.taken = clients.taken + takes
      }
    }
  }

  @Test("after a pause, broadcasts are sent with their turn")
  func alone() {
    let clients = Clients()
    let one = Broadcast("one", for: clients)
    let other = Broadcast("other", for: clients, taking: .microseconds(10))
    clients.turn(one, other)
    #expect(clients.sent == ["one", "other"])
    clients.pass(100)
    clients.turn(other)
    #expect(clients.sent == ["one", "other", "other"])
  }

  @Test("a pause is ten times as long as the last send to all clients, and at most 10 ms")
  func stream() {
    let clients = Clients()
    let slow = Broadcast("slow", for: clients, taking: .microseconds(100))
    let other = Broadcast("other", for: clients, taking: .milliseconds(60))
    clients.turn(slow)
    clients.pass(100)
    clients.turn(slow)
    clients.pass(899)
    clients.turn(other)
    #expect(clients.sent == ["slow"])
    clients.pass(1)
    #expect(clients.sent == ["slow", "slow", "other"])
    // The sends took 60.1 milliseconds.
    clients.turn(slow)
    clients.pass(9_999)
    #expect(clients.sent.count == 3)
    clients.pass(1)
    #expect(clients.sent.count == 4)
  }

  @Test("broadcasts that are due are sent before another client is served, and only those")
  func dueBroadcasts() {
    let clients = Clients()
    let text = Broadcast("text", for: clients, taking: .microseconds(100))
    // The loop has not run yet.
    clients.join(text)
    clients.willServe()
    #expect(clients.sent.count == 1)
    clients.turn(text)
    clients.willServe()
    #expect(clients.sent.count == 1)
    clients.pass(999)
    clients.willServe()
    #expect(clients.sent.count == 1)
    clients.pass(1)
    #expect(clients.sent.count == 2)
    clients.willServe()
    #expect(clients.sent.count == 2)
  }

  @Test("an early send is followed by a pause, like any other send")
  func early() {
    let clients = Clients()
    let text = Broadcast("text", for: clients, taking: .microseconds(100))
    clients.turn(text)
    clients.turn(text)
    clients.pass(10)
    #expect(clients.sent.count == 1)
    clients.coalescer.sendNow()
    clients.taken = .zero
    #expect(clients.sent.count == 2)
    clients.turn(text)
    // The time at which the previous pause would have ended.
    clients.pass(990)
    #expect(clients.sent.count == 2)
    clients.pass(10)
    #expect(clients.sent.count == 3)
  }

  @Test("a broadcast is delayed once for all turns that add to it, until a turn makes it due")
  func dueText() {
    let clients = Clients()
    let text = Broadcast("text", for: clients, taking: .microseconds(100))
    let other = Broadcast("other", for: clients)
    clients.turn(text)
    clients.turn(text, other)
    clients.turn(other, text)
    #expect(clients.sent == ["text"])
    text.isDue = true
    clients.join(other)
    #expect(clients.sent == ["text"])
    clients.join(text)
    #expect(clients.sent == ["text", "text", "other"])
    #expect(!text.isHeld)
    clients.loop.run()
    clients.pass(10_000)
    #expect(clients.sent.count == 3)
  }

  @Test("responses are sent before delayed broadcasts")
  func responses() {
    let clients = Clients()
    clients.writes.hold(Output { clients.sent.append("response") })
    clients.turn(Broadcast("text", for: clients))
    clients.writes.hold(Output { clients.sent.append("response") })
    clients.join(Broadcast("text", for: clients))
    clients.coalescer.sendNow()
    #expect(clients.sent == ["response", "text", "response", "text"])
  }

  /// A client that has disconnected. Writing to it read its last bytes, during a flush, and these
  /// started another flush. That was a trap.
  @Test("a flush during a flush sends to each client once")
  func reentered() {
    let clients = Clients()
    func gone(_ name: String) -> Output {
      Output {
        clients.sent.append(name)
        clients.writes.willServe(64 << 10)
        clients.coalescer.willServe()
        clients.coalescer.sendNow()
      }
    }
    clients.writes.hold(gone("one"))
    clients.writes.hold(gone("two"))
    clients.join(Broadcast("three", for: clients))
    clients.loop.run()
    #expect(clients.sent.sorted() == ["one", "three", "two"])
    // The earlier outputs are not sent again.
    clients.writes.hold(gone("four"))
    clients.loop.run()
    #expect(clients.sent.count == 4)
  }

  @Test("outputs that are added during a flush are flushed, too")
  func joined() {
    let clients = Clients()
    let late = Output { clients.sent.append("late") }
    clients.writes.hold(
      Output {
        clients.sent.append("early")
        for _ in 0..<65 { clients.writes.hold(late) }
      })
    clients.writes.send()
    clients.loop.run()
    #expect(clients.sent == ["early"] + Array(repeating: "late", count: 65))
  }

  private final class Output: CoalescedOutput {
    private let send: () -> Void
    init(_ send: @escaping () -> Void) { self.send = send }
    func flushCoalesced() { send() }
  }

  @Test("the coalescer releases its broadcasts when it is abandoned")
  func abandoned() {
    let clients = Clients()
    weak var left: Broadcast?
    do {
      let text = Broadcast("text", for: clients, taking: .microseconds(100))
      left = text
      clients.turn(text)
      clients.turn(text)
    }
    #expect(left != nil)
    clients.coalescer.abandon()
    #expect(left == nil)
    clients.pass(10_000)
    #expect(clients.sent.count == 1)
  }
}
