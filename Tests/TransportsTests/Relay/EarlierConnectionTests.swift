// SPDX-License-Identifier: Apache-2.0

import JournalTestSupport
import NIOCore
import NIOEmbedded
import StateMachines
import TestSupport
import Testing
import TransportTestSupport

@testable import ServerCore
@testable import Transports

@Suite("Requests in a session that the client has left")
struct EarlierConnectionTests {
  /// A client on shard 0 with a session there, and sessions of the other shards.
  private struct Scenario {
    let asked = Asked()
    private let journalThread: HeldJobs?
    let server: EmbeddedShards
    let client: EmbeddedChannel
    /// The handles of sessions of the shards 1 and 2.
    private(set) var sessions: [String] = []

    init(
      on journalThread: HeldJobs? = nil, ownership: (any SessionOwnership)? = nil,
      now: (@Sendable () -> ContinuousClock.Instant)? = nil
    ) throws {
      let asked = asked
      self.journalThread = journalThread
      server = EmbeddedShards(
        3, kinds: [StoreKind("asking") { Asking(asked: asked) }, StoreKind("noted") { Noted() }],
        now: now, ownership: ownership, on: journalThread)
      client = try server.connect(to: 0)
      for shard in 1...2 {
        let owner = try server.connect(to: shard)
        sessions.append(try open(owner))
      }
      _ = try open(client)
      try openStore(2)
      run()
      _ = try client.lines()
    }

    /// Ends all connections, and drops the requests that have no response.
    func stop() throws {
      try server.stop()
      asked.removeAll()
    }

    /// Runs the loops and the commits until nothing is left to do.
    func run() {
      server.run()
      while let journalThread, journalThread.count > 0 {
        journalThread.run()
        server.run()
      }
    }

    /// Runs the loops, also for the connections that wait for others.
    func serveOthers() {
      for _ in 0..<5 {
        for index in server.loops.indices { server.yieldQueue(index).resume() }
        server.run()
      }
    }

    func open(_ channel: EmbeddedChannel) throws -> String {
      try send(channel, 1, "session/open", "{}")
      run()
      let text = try channel.lines().joined()
      return String(
        try #require(text.split(separator: "\"session\":\"").last?.prefix { $0 != "\"" }))
    }

    func send(_ channel: EmbeddedChannel, _ id: Int, _ method: String, _ params: String) throws {
      try channel.send(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#)
    }

    func openStore(_ id: Int) throws {
      try send(client, id, "store/open", #"{"store":"a","kind":"asking","config":{}}"#)
    }

    func ask(_ id: Int) throws {
      try send(client, id, "store/send", #"{"store":"a","input":"ask"}"#)
    }

    func attach(_ id: Int, to session: Int) throws {
      let params = #"{"session":"\#(sessions[session])","frontend":"c","revisions":{}}"#
      try send(client, id, "session/attach", params)
    }

    /// Returns the ids of the results that the client has received since the last call.
    func results() throws -> [Int] {
      try client.lines().filter { $0.contains("\"result\":") }.compactMap { line in
        line.split(separator: "\"id\":").dropFirst().first.flatMap { Int($0.prefix { $0 != "," }) }
      }
    }

    func endInput() { client.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
  }

  // The notice that there are no more responses overtook one that was under way through the former end.
  @Test("a response comes before the close, also if the client moves on meanwhile")
  func movingOn() throws {
    // because the test's thread is that of all loops.
    nonisolated(unsafe) let scenario = try Scenario()
    let (server, client) = (scenario.server, scenario.client)
    try scenario.ask(10)
    try scenario.ask(11)
    try scenario.attach(12, to: 0)
    server.run()
    #expect(try scenario.results() == [12])
    try scenario.attach(13, to: 1)
    scenario.endInput()
    // The connection of shard 2 is made, and shard 1 is about to hand over.
    for loop in server.loops { loop.run() }
    server.loops[1].execute {
      let others = [scenario.server.loops[0], scenario.server.loops[2]]
      for loop in others { loop.run() }
      scenario.asked.respond()
      for _ in 0..<20 { for loop in others { loop.run() } }
      #expect(scenario.client.isActive)
    }
    // The first response comes to shard 1 after all that.
    scenario.asked.respond()
    server.loops[0].run()
    server.run()
    #expect(try Set(scenario.results()) == [10, 11, 13])
    #expect(!client.isActive)
    try scenario.stop()
  }

  // The last request overtook the one that waited for other clients when shard 1 handed over.
  @Test("requests that wait for other clients keep their order if the client moves on meanwhile")
  func orderOfWaitingRequests() throws {
    let clock = Lock((time: ContinuousClock.now, step: Duration.zero))
    let scenario = try Scenario {
      clock.withLock { clock in
        clock.time += clock.step
        return clock.time
      }
    }
    let (server, client) = (scenario.server, scenario.client)
    try scenario.attach(10, to: 0)
    server.run()
    // The client uses its share of the time of shard 1.
    clock.withLock { $0.step = .milliseconds(10) }
    for id in 11...14 { try scenario.send(client, id, "ping", "{}") }
    server.run()
    clock.withLock { $0.step = .zero }
    scenario.serveOthers()
    try scenario.attach(20, to: 1)
    server.loops[1].run()
    #expect(try scenario.results() == [10, 11, 12, 13, 14])
    // Then another client waits there. The parts of one read arrive before and after the handover.
    server.yieldQueue(1).wait { .zero }
    try scenario.send(client, 21, "ping", "{}")
    server.loops[2].run()
    try scenario.send(client, 22, "ping", "{}")
    server.run()
    scenario.serveOthers()
    #expect(try scenario.results() == [20, 21, 22])
    try scenario.stop()
  }

  // The last input of the client reached the next shard directly, before the one that still waited for other
  // clients at the former end, which then was carried out later or never.
  @Test(
    "input that waits for other clients stays first also after the handover",
    arguments: [false, true])
  func lastInputAfterHandover(isDisconnected: Bool) throws {
    let clock = Lock((time: ContinuousClock.now, step: Duration.zero))
    let scenario = try Scenario {
      clock.withLock { clock in
        clock.time += clock.step
        return clock.time
      }
    }
    let (server, client) = (scenario.server, scenario.client)
    let owner = try server.connect(to: 2)
    let params = #"{"session":"\#(scenario.sessions[1])","revisions":{}}"#
    try scenario.send(owner, 1, "session/attach", params)
    try scenario.send(owner, 2, "store/open", #"{"store":"n","kind":"noted","config":{}}"#)
    server.run()
    try scenario.attach(10, to: 0)
    server.run()
    // The client uses its share of the time of shard 1.
    clock.withLock { $0.step = .milliseconds(10) }
    for id in 11...14 { try scenario.send(client, id, "ping", "{}") }
    server.run()
    clock.withLock { $0.step = .zero }
    scenario.serveOthers()
    try scenario.attach(20, to: 1)
    server.loops[1].run()
    // Then another client waits there, and the client's next input after it, also after the handover.
    server.yieldQueue(1).wait { .zero }
    try scenario.send(client, 21, "store/send", #"{"store":"n","input":"count"}"#)
    server.run()
    _ = try scenario.results()
    if isDisconnected {
      _ = try client.finish()
    } else {
      // A channel whose client has ended its output reads to the end.
      try scenario.send(client, 22, "ping", "{}")
    }
    server.run()
    scenario.serveOthers()
    if !isDisconnected { #expect(try scenario.results() == [21, 22]) }
    _ = try owner.lines()
    try scenario.send(owner, 3, "store/state", #"{"store":"n"}"#)
    server.run()
    #expect(try owner.lines().joined().contains("\"count\":1"))
    try scenario.stop()
  }

  // The commit notified a connection that nothing else retained, and ended the server.
  @Test("a client can go while it moves on, before its last commit has ended")
  func goingBeforeCommit() throws {
    let scenario = try Scenario(on: HeldJobs())
    try scenario.attach(10, to: 0)
    scenario.run()
    #expect(try scenario.results() == [10])
    try scenario.openStore(11)
    try scenario.attach(12, to: 1)
    scenario.server.run()
    // Neither has a response, because both wait for the commit.
    #expect(try scenario.results() == [])
    _ = try scenario.client.finish()
    scenario.run()
    try scenario.stop()
  }

  @Test(
    "a lost session database gives errors to these requests, too, before the client is disconnected"
  )
  func databaseIsGone() throws {
    let scenario = try Scenario()
    try scenario.ask(10)
    try scenario.attach(11, to: 0)
    scenario.server.run()
    #expect(try scenario.results() == [11])
    scenario.server.registry(0).databaseIsGone(isLong: false)
    scenario.server.run()
    let lines = try scenario.client.lines()
    #expect(lines.count == 1 && lines[0].contains("\"id\":10,") && lines[0].contains("-32800"))
    #expect(!scenario.client.isActive)
    try scenario.stop()
  }

  // It got an error that says that the session database does not respond.
  @Test("a client without a session's handle that the operator of a node disconnects gets no error")
  func disconnectedByOperator() throws {
    let asked = Asked()
    let server = EmbeddedShards(
      1, kinds: [StoreKind("asking") { Asking(asked: asked) }],
      ownership: MemoryCluster().node("a"))
    let client = try server.connect(to: 0)
    try client.send(
      #"{"jsonrpc":"2.0","id":1,"method":"store/open","params":{"store":"a","kind":"asking","config":{}}}"#
    )
    try client.send(
      #"{"jsonrpc":"2.0","id":2,"method":"store/send","params":{"store":"a","input":"ask"}}"#)
    server.run()
    #expect(try client.lines().count == 1)
    // because the test's thread is that of all loops.
    nonisolated(unsafe) let connection = try #require(
      try client.pipeline.syncOperations.handler(type: ConnectionHandler.self).connection)
    server.shards[0].shard.assumeIsolated { shard in
      shard.turn { connection.participant.session.endByOperator(isolation: shard) }
    }
    server.run()
    #expect(try client.lines() == [] && !client.isActive)
    try server.stop()
  }

  // They were discarded, also those of another node for its client.
  @Test("responses that wait for the lease become errors if the client has ended its input")
  func lostLease() throws {
    let node = MemoryCluster().node("a")
    let server = EmbeddedShards(1, ownership: node)
    let client = try server.connect(to: 0)
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
    server.run()
    #expect(try client.lines().count == 1)
    node.setLapsed(true)
    try client.send(#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#)
    client.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    server.run()
    #expect(try client.lines() == [] && client.isActive)
    for _ in 1...2 {
      server.registry(0).databaseIsGone(isLong: false)
      server.run()
    }
    let lines = try client.lines()
    #expect(lines.count == 1 && lines[0].contains("\"id\":2,") && lines[0].contains("-32800"))
    #expect(!client.isActive)
    try server.stop()
  }

  // They reached the next shard before the messages that wait for the attachment: these were carried out
  // after later ones, in another session, or never.
  @Test("messages and the end of the input stay in order while the client moves on")
  func order() throws {
    let scenario = try Scenario()
    let server = scenario.server
    try scenario.attach(10, to: 0)
    server.run()
    #expect(try scenario.results() == [10])
    // The first read ends in the middle of the message after the request.
    try scenario.attach(11, to: 1)
    let info = #"{"jsonrpc":"2.0","id":12,"method":"session/info","params":{}}"#
    try scenario.client.writeInbound(ByteBuffer(string: String(info.prefix(20))))
    server.loops[1].run()
    server.loops[2].run()
    try scenario.client.writeInbound(ByteBuffer(string: String(info.dropFirst(20)) + "\n"))
    scenario.endInput()
    // The loop of the channel has not passed the first message on yet.
    for _ in 0..<5 { for loop in server.loops[1...] { loop.run() } }
    server.run()
    let lines = try scenario.client.lines()
    #expect(lines.count == 2 && lines[0].contains("\"id\":11,\"result\""))
    #expect(lines.last?.contains("\"id\":12,\"result\"") == true)
    #expect(lines.last?.contains(scenario.sessions[1]) == true)
    #expect(!scenario.client.isActive)
    try scenario.stop()
  }

  // The write that notices a disconnect reads the client's last bytes. They were passed on before those that
  // were being read, which were dropped.
  @Test(
    "the last input of a disconnected client comes after its earlier input, also on another shard")
  func lastInput() throws {
    let server = EmbeddedShards(2, kinds: [StoreKind("noted") { Noted() }])
    let (owner, other) = (try server.connect(to: 1), try server.connect(to: 0))
    let socket = EndedSocket()
    let handler = server.handler(0)
    let client = try server.connect([socket, handler], to: 0)
    try owner.send(#"{"jsonrpc":"2.0","id":1,"method":"session/open","params":{}}"#)
    server.run()
    let opened = try owner.lines().joined()
    let session = try #require(
      opened.split(separator: "\"session\":\"").last?.prefix { $0 != "\"" })
    try owner.send(
      #"{"jsonrpc":"2.0","id":2,"method":"store/open","params":{"store":"n","kind":"noted","config":{}}}"#
    )
    try client.send(
      #"{"jsonrpc":"2.0","id":1,"method":"session/attach","params":"#
        + #"{"session":"\#(session)","revisions":{}}}"#)
    server.run()
    #expect(handler.relay != nil)
    // The channel still holds bytes that were written before.
    handler.unsentBytes = 1
    handler.registry.writeCoalescer.hold(handler)
    let input = #"{"jsonrpc":"2.0","method":"store/send","params":{"store":"n","input":"count"}}"#
    socket.unread = ByteBuffer(string: input + "\n")
    // So many bytes that the held ones are sent before they are processed.
    try client.send(String(repeating: " ", count: 40_000) + input)
    server.run()
    #expect(!client.isActive)
    _ = try owner.lines()
    try owner.send(#"{"jsonrpc":"2.0","id":3,"method":"store/state","params":{"store":"n"}}"#)
    server.run()
    #expect(try owner.lines().joined().contains("\"count\":2"))
    withExtendedLifetime(other) {}
    try server.stop()
  }

  @Test("a client that is evicted while it attaches sends no more input")
  func evictedBeforeHandover() throws {
    let scenario = try Scenario()
    let server = scenario.server
    let owner = try server.connect(to: 1)
    let session = #""session":"\#(scenario.sessions[0])""#
    try scenario.send(owner, 1, "session/attach", "{\(session),\"revisions\":{}}")
    try scenario.send(owner, 2, "store/open", #"{"store":"n","kind":"noted","config":{}}"#)
    server.run()
    _ = try owner.lines()
    // The snapshot fills the way between the shards, so the connection stays open until the handover.
    let params = "{\(session),\"frontend\":\"c\",\"revisions\":{\"n\":null}}"
    try scenario.client.send(
      #"{"jsonrpc":"2.0","id":10,"method":"session/attach","params":\#(params)}"# + "\n"
        + #"{"jsonrpc":"2.0","method":"store/send","params":{"store":"n","input":"count"}}"#)
    server.loops[1].run()
    try scenario.send(
      owner, 3, "session/attach", "{\(session),\"frontend\":\"c\",\"revisions\":{}}")
    server.run()
    let lines = try scenario.client.lines()
    #expect(lines.count == 2 && lines[0].contains("\"id\":10,\"result\""))
    #expect(lines.last?.contains("evicted") == true)
    _ = try owner.lines()
    try scenario.send(owner, 4, "store/state", #"{"store":"n"}"#)
    server.run()
    #expect(try owner.lines().joined().contains("\"count\":0"))
    try scenario.stop()
  }

  // The connection was closed before the former one had handed over: a batch and the responses of the
  // former session were lost.
  @Test(
    "a client that is evicted while it attaches gets its other responses",
    arguments: [false, true])
  func responsesOfEvicted(isBatch: Bool) throws {
    let scenario = try Scenario()
    let server = scenario.server
    let owner = try server.connect(to: 1)
    let session = #""session":"\#(scenario.sessions[0])","frontend":"c","revisions":{}"#
    try scenario.ask(9)
    if isBatch {
      try scenario.client.send(
        #"[{"jsonrpc":"2.0","id":10,"method":"ping"},"#
          + #"{"jsonrpc":"2.0","id":11,"method":"session/attach","params":{\#(session)}}]"#)
    } else {
      try scenario.attach(11, to: 0)
    }
    server.loops[1].run()
    try scenario.send(owner, 3, "session/attach", "{\(session)}")
    server.run()
    let lines = try scenario.client.lines()
    let (expected, notice) = (isBatch ? [10, 11] : [11], lines.first { $0.contains("evicted") })
    for id in expected {
      #expect(lines.contains { $0.contains("\"id\":\(id),\"result\"") }, "\(lines)")
    }
    #expect(lines.contains { $0.contains("\"id\":9,\"error\":{\"code\":-32800") }, "\(lines)")
    #expect(notice != nil && lines.count == 3)
    #expect(!scenario.client.isActive)
    try scenario.stop()
  }

  // Only the present connection got errors.
  @Test("a journal that fails ends the requests in former sessions with an error")
  func failingJournal() throws {
    let scenario = try Scenario(on: HeldJobs(), ownership: MemoryCluster().node("a"))
    try scenario.ask(10)
    try scenario.attach(11, to: 0)
    scenario.run()
    #expect(try scenario.results() == [11])
    scenario.server.journalFails.withLock { $0 = true }
    try scenario.openStore(12)
    scenario.run()
    let lines = try scenario.client.lines()
    #expect(lines.count == 2, "\(lines)")
    for id in [10, 12] {
      #expect(lines.contains { $0.contains("\"id\":\(id),\"error\":{\"code\":-32800") }, "\(lines)")
    }
    #expect(!scenario.client.isActive)
    try scenario.stop()
  }

  // It was sent with the next commit of another session.
  @Test("a response whose commit has failed is not sent while former sessions end")
  func failedCommit() throws {
    let jobs = HeldJobs()
    let scenario = try Scenario(on: jobs, ownership: MemoryCluster().node("a"))
    let (server, client) = (scenario.server, scenario.client)
    let other = try server.connect(to: 1)
    let session = try scenario.open(other)
    try scenario.send(other, 2, "store/open", #"{"store":"n","kind":"noted","config":{}}"#)
    scenario.run()
    try scenario.ask(10)
    try scenario.attach(11, to: 0)
    scenario.run()
    #expect(try scenario.results() == [11])
    // The response waits for the commit, also after the client has attached to the other session.
    try scenario.openStore(12)
    server.run()
    let params = #"{"session":"\#(session)","frontend":"c","revisions":{}}"#
    try scenario.send(client, 13, "session/attach", params)
    server.run()
    #expect(try scenario.results() == [] && jobs.count == 1)
    server.journalFails.withLock { $0 = true }
    jobs.run()
    server.journalFails.withLock { $0 = false }
    // They come after the failure, and before the requests in former sessions have ended.
    try scenario.send(client, 14, "ping", "{}")
    server.loops[0].run()
    try scenario.send(other, 3, "store/send", #"{"store":"n","input":"count"}"#)
    server.loops[1].run()
    jobs.run()
    server.loops[1].run()
    scenario.run()
    let lines = try client.lines()
    #expect(!lines.contains { $0.contains("\"result\"") }, "\(lines)")
    #expect(lines.count == 4 && !client.isActive)
    try scenario.stop()
  }

  // The end of the output was discarded, and nothing took its place.
  @Test("a client that has ended its input is closed if the rest of a message is lost")
  func lostRest() throws {
    let node = MemoryCluster().node("a")
    let server = EmbeddedShards(1, kinds: [StoreKind("noted") { Noted() }], ownership: node)
    let client = try server.connect(to: 0)
    try client.send(
      #"{"jsonrpc":"2.0","id":1,"method":"store/open","params":{"store":"n","kind":"noted","config":{}}}"#
    )
    server.run()
    #expect(try client.lines().count == 1)
    // A little more than 1 MiB, of which the client gets all but the last piece.
    let states = (100..<154).map {
      #"{"jsonrpc":"2.0","id":\#($0),"method":"store/state","params":{"store":"n"}}"#
    }
    try client.send("[\(states.joined(separator: ","))]")
    client.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    server.run()
    var received = try client.lines().joined()
    while received.utf8.count < 1 << 20 {
      server.yieldQueue(0).resume()
      server.run()
      received += try client.lines().joined()
    }
    #expect(received.hasPrefix("[{") && !received.hasSuffix("}]"))
    node.setLapsed(true)
    server.yieldQueue(0).resume()
    server.run()
    #expect(try client.lines() == [] && client.isActive)
    server.registry(0).databaseIsGone(isLong: false)
    server.run()
    #expect(!client.isActive)
    try server.stop()
  }

  // The former connection waited until its loop had served others, which only the present one was told.
  @Test("a batch with a large response gets it, also if the client has moved on within a long turn")
  func movingOnInLongTurn() throws {
    let clock = Lock((time: ContinuousClock.now, step: Duration.zero))
    let scenario = try Scenario {
      clock.withLock { clock in
        clock.time += clock.step
        return clock.time
      }
    }
    try scenario.send(
      scenario.client, 3, "store/open", #"{"store":"n","kind":"noted","config":{}}"#)
    scenario.server.run()
    #expect(try scenario.results() == [3])
    // More than 1 MiB.
    let ask =
      #"{"jsonrpc":"2.0","id":10,"method":"store/send","params":{"store":"a","input":"ask"}}"#
    let states = (100..<160).map {
      #"{"jsonrpc":"2.0","id":\#($0),"method":"store/state","params":{"store":"n"}}"#
    }
    try scenario.client.send("[\(([ask] + states).joined(separator: ","))]")
    scenario.server.run()
    clock.withLock { $0.step = .milliseconds(10) }
    try scenario.attach(12, to: 0)
    clock.withLock { $0.step = .zero }
    // The connection is replaced before its loop has served others.
    scenario.server.run()
    scenario.serveOthers()
    #expect(try scenario.results() == [12])
    scenario.asked.respond()
    scenario.serveOthers()
    let lines = try scenario.client.lines()
    #expect(lines.count == 1 && lines[0].contains("\"id\":10,"))
    try scenario.stop()
  }

  // The end of the input overtook a read that waited for other clients at the former end.
  @Test("requests before the end of the input are carried out, also if they wait at a former end")
  func waitingRead() throws {
    let scenario = try Scenario()
    let (server, client) = (scenario.server, scenario.client)
    try scenario.attach(10, to: 0)
    server.run()
    #expect(try scenario.results() == [10])
    let queue = server.yieldQueue(1)
    queue.wait { .zero }
    // In two parts of one read. The second one ends a large frame, so it waits for other clients.
    let ping =
      #"{"jsonrpc":"2.0","id":12,"method":"ping","params":{"x":"\#(String(repeating: "x", count: 70_000))"}}"#
    try scenario.attach(11, to: 1)
    try client.writeInbound(ByteBuffer(string: String(ping.dropLast(9))))
    server.loops[1].run()
    try client.writeInbound(ByteBuffer(string: String(ping.suffix(9)) + "\n"))
    for _ in 0..<20 { for loop in server.loops { loop.run() } }
    scenario.endInput()
    server.run()
    queue.resume()
    server.run()
    #expect(try scenario.results() == [11, 12])
    #expect(!client.isActive)
    try scenario.stop()
  }
}

/// The socket of a client that has disconnected. The next write reads the client's last bytes, and closes
/// the channel.
private final class EndedSocket: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer

  var unread: ByteBuffer?

  func flush(context: ChannelHandlerContext) {
    context.flush()
    guard let bytes = unread else { return }
    unread = nil
    context.fireChannelRead(NIOAny(bytes))
    context.close(promise: nil)
  }
}

/// The requests of stores that have no response.
private final class Asked: Sendable {
  private let replies = Lock([ExchangeReply<Int>]())

  func add(_ reply: ExchangeReply<Int>) { replies.withLock { $0.append(reply) } }

  /// Drops all, which hold their stores.
  func removeAll() { replies.withLock { $0 = [] } }

  /// Responds to the first one.
  func respond() {
    let reply = replies.withLock { $0.removeFirst() }
    reply.queue.add([reply.message(1)]) {}
  }
}

/// A store with a state of 20 KB.
private struct Noted: StateMachine {
  enum Input: String, Codable, Sendable { case count }
  struct State: Codable, Sendable {
    var count = 0
    var text = String(repeating: "x", count: 20_000)
  }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Input> { .action(input) }
  func reduce(_ state: inout State, _ action: Input) { state.count += 1 }
}

/// A store whose inputs get their responses when the test wants it.
private struct Asking: StateMachine {
  enum Input: String, Codable, Sendable { case ask }
  struct State: Codable, Sendable { var count = 0 }

  let asked: Asked
  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Int> {
    .exchange("ask") { [asked] in asked.add($0) }
  }
  func reduce(_ state: inout State, _ action: Int) { state.count += action }
}
