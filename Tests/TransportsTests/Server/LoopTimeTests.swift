// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import ServerCore
import TestSupport
import Testing

@testable import Transports

@Suite("Time of an event loop")
struct LoopTimeTests {

  /// Takes five milliseconds for each input.
  private struct Slow: StateMachine {
    enum Input: Codable, Sendable { case count }
    struct State: Codable, Sendable { var count = 0 }

    let clock: TestTime
    let initialState = State()

    func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }
    func reduce(_ state: inout State, _ action: Input) {
      clock.pass(.milliseconds(5))
      state.count += 1
    }
  }

  /// Counts the reads of a channel.
  private final class Reads: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    var count = 0

    func read(context: ChannelHandlerContext) {
      count += 1
      context.read()
    }
  }

  private func request(_ method: String, _ params: String) -> String {
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\(method)\",\"params\":\(params)}"
  }

  @Test("a connection that takes much time is read after other clients were served")
  func reading() throws {
    let clock = TestTime()
    let server = EmbeddedServer(
      [StoreKind("slow") { Slow(clock: clock) }], now: clock.now)
    let (busyReads, otherReads) = (Reads(), Reads())
    let busy = try server.connect(through: busyReads)
    let other = try server.connect(through: otherReads)
    func send() throws {
      try busy.send(request("store/send", #"{"store":"slow","input":{"type":"count"}}"#))
    }
    /// Serves other clients after a long input, and then the connections that yielded.
    func yieldToOthers() {
      server.loop.run()
      while !server.yieldQueue.isEmpty { server.yieldQueue.resume() }
    }
    try busy.send(request("store/open", #"{"store":"slow","kind":"slow","config":{}}"#))
    server.loop.run()
    (busyReads.count, otherReads.count) = (0, 0)

    for _ in 1...3 {
      try send()
      yieldToOthers()
    }
    try send()
    busy.read()
    try other.send(request("ping", "{}"))
    other.read()
    server.loop.run()
    #expect(busyReads.count == 0)
    #expect(otherReads.count == 1)
    #expect(try other.lines().count == 1)
    yieldToOthers()
    #expect(busyReads.count == 1)

    // Other clients were served, and none is waiting.
    busy.read()
    #expect(busyReads.count == 2)

    // The connection has used little time for long enough.
    clock.pass(.seconds(1))
    try send()
    yieldToOthers()
    clock.pass(.seconds(1))
    busy.read()
    #expect(busyReads.count == 3)
    try server.stop()
  }

  @Test("a connection may use a hundredth of the time, and some milliseconds in one go")
  func share() {
    var now = ContinuousClock.now
    var time = LoopTime(since: now)
    func turn(_ milliseconds: Int, after pause: Int) -> Bool {
      now += .milliseconds(pause)
      let start = now
      now += .milliseconds(milliseconds)
      time.add(from: start, to: now)
      return time.isExceeded
    }
    #expect(!turn(2, after: 0))
    #expect(!turn(2, after: 0))
    #expect(turn(1, after: 0))
    #expect(!turn(1, after: 200))
    for _ in 1...100 { #expect(!turn(1, after: 100)) }
    #expect(!turn(50, after: 10_000))
    #expect(!turn(50, after: 0))
    #expect(turn(1, after: 0))
  }

  @Test("the oldest waiters continue for some milliseconds, after jobs that are ahead of them")
  func queue() {
    let clock = TestTime()
    let queue = YieldQueue(-1, clock.now)
    var seen: [String] = []
    for name in ["a", "b", "c", "d"] {
      queue.wait {
        seen.append(name)
        clock.pass(.milliseconds(1))
        if name == "a" {
          queue.wait {
            seen.append("a again")
            return .zero
          }
        }
        return name == "c" ? .milliseconds(2) : .zero
      }
    }
    queue.waitBeforeConnections { seen.append("jobs") }
    queue.resume()
    #expect(seen == ["jobs", "a", "b"])
    queue.resume()
    // Work that it schedules for later counts as well.
    #expect(seen == ["jobs", "a", "b", "c"])
    #expect(!queue.isEmpty)
    queue.resume()
    #expect(seen.last == "a again")
    #expect(queue.isEmpty)
  }
}
