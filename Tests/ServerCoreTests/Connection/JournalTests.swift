// SPDX-License-Identifier: Apache-2.0

import Sessions
import StatewireJSON
import StatewireProtocol
import TestSupport
import Testing

@testable import ServerCore

/// Responses and updates that wait for the journal.
@Suite("Connections and the journal")
struct JournalTests {
  private func keep(_ id: String, _ value: String) -> String {
    request(
      id, "store/send",
      #"{"store":"loose","input":{"type":"keep","value":"\#(value)"}}"#)
  }

  @Test("nothing is sent before it is journaled")
  func order() {
    let journal = PlainJournal()
    let client = TestClient(World(journal: journal))
    client.send(request("1", "session/open"))
    #expect(journal.commits.count == 1)
    var counts: [Int] = []
    client.writing = { counts.append(journal.commits.count) }
    client.send(keep("2", "a"), keep("3", "b"))
    #expect(counts == [2])
    // A response without changes does not wait for the journal.
    client.send(request("4", "ping"))
    #expect(counts == [2, 2])
  }

  @Test("the bytes of a large turn are sent in pieces, after its one commit")
  func much() {
    let journal = PlainJournal()
    let client = TestClient(World(journal: journal))
    client.send(request("1", "session/open"))
    client.send(request("2", "store/subscribe", #"{"store":"loose"}"#))
    var counts: [Int] = []
    client.writing = { counts.append(journal.commits.count) }
    let value = String(repeating: "x", count: 200_000)
    let before = journal.commits.count
    client.send(keep("3", value), keep("4", "short"), keep("5", value + "y"), keep("6", "z"))
    #expect(counts == [before + 1, before + 1])
  }

  @Test(
    "a failed commit disconnects the session's clients, also those that receive nothing")
  func disconnectsSession() throws {
    let journal = PlainJournal()
    let world = World(journal: journal)
    let (client, friend, other) = (TestClient(world), TestClient(world), TestClient(world))
    client.send(request("1", "session/open"))
    let handle = try #require(
      JSONValue(parsing: client.takeMessages()[0])["result"]?["session"]?.string)
    friend.send(request("1", "session/attach", #"{"session":"\#(handle)","revisions":{}}"#))
    other.send(request("1", "session/open"))
    let written = [client, friend].map(\.writes.count)
    journal.isFull = true
    // The response follows the settling of the input, which must be journaled first.
    client.send(
      request(
        "2", "store/send",
        #"{"store":"loose","settle":true,"input":{"type":"keep","value":1}}"#))
    #expect(client.isAbandoned && friend.isAbandoned && !other.isAbandoned)
    #expect([client, friend].map(\.writes.count) == written)
  }

  @Test("a client that depends on a failed commit is disconnected, and other clients are not")
  func failure() throws {
    let journal = PlainJournal()
    let world = World(journal: journal)
    let (client, other) = (TestClient(world), TestClient(world))
    client.send(request("1", "session/open"))
    other.send(request("1", "ping"))
    let (written, others) = (client.writes.count, other.writes.count)
    journal.isFull = true
    client.send(keep("2", "a"))
    #expect(client.isAbandoned && client.writes.count == written)
    // Its session has no handle, so it is not journaled.
    other.send(keep("2", "a"))
    #expect(!other.isAbandoned && other.writes.count == others + 1)
    // The next commit writes the whole session.
    let text = try #require(
      JSONValue(parsing: client.writes[0])["result"]?["session"]?.string)
    journal.isFull = false
    world.clock.advance(to: world.clock.now.advanced(by: .seconds(1)))
    let later = TestClient(world)
    later.send(
      request(
        "1", "session/attach", #"{"session":"\#(text)","revisions":{"loose":null}}"#))
    #expect(!later.isAbandoned && later.writes.count == 1)
    let stores = journal.commits.last?.compactMap { entry in
      if case .store(let name, .opened) = entry.event { name } else { nil }
    }
    #expect(stores == ["loose"])
  }

  @Test("after each commit, bytes are sent in order, and the end of the connection comes last")
  func beside() throws {
    let (journal, thread) = (PlainJournal(), HeldJobs())
    let world = World(journal: journal, on: thread)
    let client = TestClient(world)
    client.send(request("1", "session/open"))
    client.send(keep("2", "a"))
    client.send(request("3", "ping"))
    client.tell(.inputEnded)
    #expect(client.writes.isEmpty && !client.isClosed && client.hasOpenResponses)
    thread.run()
    #expect(client.isClosed && !client.hasOpenResponses)
    let ids = try client.takeMessages().map { try JSONValue(parsing: $0)["id"]?.int }
    #expect(ids == [1, 2, 3])
    #expect(journal.commits.count == 1)
  }

  @Test("bytes for a client that has changed its session wait for commits of the former session")
  func nextSession() throws {
    let (journal, thread) = (PlainJournal(), HeldJobs())
    let world = World(journal: journal, on: thread)
    let (client, friend) = (TestClient(world), TestClient(world))
    client.send(request("1", "session/open"))
    let handle = try #require(
      JSONValue(parsing: client.takeMessages()[0])["result"]?["session"]?.string)
    friend.send(request("1", "session/attach", #"{"session":"\#(handle)","revisions":{}}"#))
    _ = friend.takeMessages()
    client.send(keep("2", "a"))
    // In one turn without journal entries, the friend reads a value that is not yet committed, and
    // leaves.
    friend.send(
      request("2", "store/state", #"{"store":"loose"}"#), request("3", "session/detach"))
    let written = friend.writes.count
    journal.isFull = true
    thread.run()
    #expect(friend.isAbandoned && friend.writes.count == written)
  }

  @Test(
    "while the disk is blocked, the server reads from a client up to a limit, and resumes later")
  func fullWay() throws {
    let (journal, thread) = (PlainJournal(), HeldJobs())
    let client = TestClient(World(journal: journal, on: thread))
    client.send(request("1", "session/open"))
    _ = client.takeMessages()
    // Notifications: the client receives no response.
    func message(_ number: Int) -> String {
      let value = "\(number)" + String(repeating: "x", count: 10_000)
      let params = #"{"store":"loose","input":{"type":"keep","value":"\#(value)"}}"#
      return #"{"jsonrpc":"2.0","method":"store/send","params":\#(params)}"#
    }
    var count = 0
    while client.wantsBytes, count < 1000 {
      client.send(message(count))
      count += 1
    }
    #expect(count < 1000)
    // A message that arrives nevertheless waits in the queue.
    client.send(keep("2", "last"))
    let wanted = client.wantedAgain
    client.world.commit()
    #expect(client.wantsBytes && client.wantedAgain > wanted)
    #expect(client.takeMessages().last?.contains(#""id":2"#) == true)
    // The limit applies to small messages, too.
    count = 0
    while client.wantsBytes, count < 1000 {
      client.send(keep("3", "\(count)"))
      count += 1
    }
    #expect(count < 1000)
    #expect(client.takeMessages().count == count)
  }

  @Test("with a slow consumer and a slow disk, each change arrives once, and the last one last")
  func slowBoth() throws {
    let thread = HeldJobs()
    let client = TestClient(World(journal: PlainJournal(), on: thread))
    client.send(
      request("1", "session/open"), request("2", "store/subscribe", #"{"store":"loose"}"#))
    _ = client.takeMessages()
    client.send(keep("3", "a"))
    client.isCongested = true
    thread.run()
    client.send(keep("4", "b"))
    client.send(keep("5", "c"))
    thread.run()
    client.catchUp()
    let messages = try client.takeMessages().map { try JSONValue(parsing: $0) }
    let bases = messages.compactMap { $0["params"]?["base"]?.int }
    let revisions = messages.compactMap { $0["params"]?["revision"]?.int }
    #expect(bases.first == 0 && revisions.last == 3)
    #expect(Array(bases.dropFirst()) == revisions.dropLast())
    #expect(messages.compactMap { $0["id"]?.int } == [3, 4, 5])
  }

  // The client was to receive nothing more, and its connection was never closed.
  @Test("a failed commit also disconnects a client that has ended its input")
  func ended() {
    let (journal, thread) = (PlainJournal(), HeldJobs())
    let client = TestClient(World(journal: journal, on: thread))
    client.send(request("1", "session/open"))
    thread.run()
    client.send(keep("2", "a"))
    client.tell(.inputEnded)
    journal.isFull = true
    thread.run()
    #expect(client.isAbandoned && client.isIdle)
  }

  @Test("a client that attaches and detaches in one turn receives nothing that is not journaled")
  func attachesAndDetaches() throws {
    let (journal, thread) = (PlainJournal(), HeldJobs())
    let world = World(journal: journal, on: thread)
    let (driver, guest) = (TestClient(world), TestClient(world))
    driver.send(request("1", "session/open"))
    let handle = try #require(
      JSONValue(parsing: driver.takeMessages()[0])["result"]?["session"]?.string)
    guest.send(request("1", "session/open"))
    world.commit()
    let (written, commits) = (guest.writes.count, journal.commits.count)
    driver.send(keep("2", "a"))
    journal.refuses = { entries in entries.contains { $0.session.description == handle } }
    // The client's own session now gets a deadline, which is an entry that can be written.
    guest.send(
      request(
        "2", "session/attach", #"{"session":"\#(handle)","revisions":{"loose":null}}"#),
      request("3", "session/detach"))
    thread.run()
    #expect(journal.commits.count == commits + 1)
    #expect(guest.isAbandoned && guest.writes.count == written)
  }

  @Test("bytes for the journal count for the client that causes them, and not for observers")
  func observers() throws {
    let (journal, thread) = (PlainJournal(), HeldJobs())
    let world = World(journal: journal, on: thread)
    let (driver, observer) = (TestClient(world), TestClient(world))
    driver.send(request("1", "session/open"))
    let handle = try #require(
      JSONValue(parsing: driver.takeMessages()[0])["result"]?["session"]?.string)
    observer.send(
      request("1", "session/attach", #"{"session":"\#(handle)","revisions":{"brief":null}}"#))
    _ = observer.takeMessages()
    // The configurations are large, and observers do not receive them.
    let padding = String(repeating: "x", count: 600_000)
    for name in ["a", "b", "c"] {
      let params = #"{"store":"\#(name)","kind":"loose","config":{"padding":"\#(padding)"}}"#
      driver.send(request("2", "store/open", params))
      observer.send(request("2", "ping"))
    }
    #expect(!driver.wantsBytes && observer.wantsBytes)
  }

  @Test(
    "a client and its later messages wait until its session is loaded, and other clients do not")
  func loading() async throws {
    let (journal, thread) = (PlainJournal(), HeldJobs())
    let handles = try (1...2).map { _ in
      let client = TestClient(World(journal: journal))
      client.send(request("1", "session/open"))
      client.send(request("2", "store/open", #"{"store":"todo","kind":"todo"}"#))
      let opened = try JSONValue(parsing: client.takeMessages()[0])
      return try #require(opened["result"]?["session"]?.string)
    }
    let world = World(journal: journal, on: thread)
    try world.beginRestoring()
    let (one, two, opener, other) = (
      TestClient(world), TestClient(world), TestClient(world), TestClient(world)
    )
    let attach = handles.map {
      request("1", "session/attach", #"{"session":"\#($0)","frontend":"a","revisions":{"todo":0}}"#)
    }
    one.send(attach[0], request("2", "ping"))
    two.send("[\(attach[1]),\(request("2", "ping"))]", request("3", "ping"))
    opener.send(request("1", "session/open"), request("2", "ping"))
    other.send(request("1", "ping"))
    #expect(other.writes.count == 1)
    // The overview of the sessions is not loaded yet.
    #expect([one, two, opener].allSatisfy { $0.writes.isEmpty && $0.hasOpenResponses })
    thread.run()
    #expect([one, two].allSatisfy { $0.writes.isEmpty })
    #expect(opener.takeMessages().count == 2)
    // Loads the sessions.
    world.commit()
    let attached = #"{"stores":{"todo":{"replayed":0}},"sequence":0}"#
    func response(_ id: Int, _ result: String) -> String {
      #"{"jsonrpc":"2.0","id":\#(id),"result":\#(result)}"#
    }
    try await one.expect(response(1, attached), response(2, "{}"))
    try await two.expect(
      "[\(response(1, attached)),\(response(2, "{}"))]", response(3, "{}"))
    // The error of an unknown handle is the same as without loading.
    other.send(request("2", "session/attach", #"{"session":"\#(handles[0])0"}"#))
    #expect(other.takeMessages().last?.contains("-32012") == true)
  }

  @Test("a client that disconnects while its session is loaded is not attached to it")
  func disconnectedWhileLoading() throws {
    let (journal, thread) = (PlainJournal(), HeldJobs())
    let first = TestClient(World(journal: journal))
    first.send(request("1", "session/open"))
    let handle = try #require(
      JSONValue(parsing: first.takeMessages()[0])["result"]?["session"]?.string)
    let world = World(journal: journal, on: thread)
    try world.beginRestoring()
    let client = TestClient(world)
    client.send(request("1", "session/attach", #"{"session":"\#(handle)"}"#))
    thread.run()
    client.tell(.disconnected)
    world.commit()
    #expect(client.writes.isEmpty)
    let friend = TestClient(world)
    friend.send(
      request("1", "session/attach", #"{"session":"\#(handle)"}"#), request("2", "session/info"))
    world.commit()
    let info = try #require(friend.takeMessages().last)
    #expect(try JSONValue(parsing: info)["result"]?["frontends"]?.array?.count == 1, "\(info)")
  }

  @Test("a request that waits for the journal is cancelled when the connection's time is up")
  func timeIsUp() async throws {
    let (journal, thread) = (PlainJournal(), HeldJobs())
    let first = TestClient(World(journal: journal))
    first.send(request("1", "session/open"))
    let handle = try #require(
      JSONValue(parsing: first.takeMessages()[0])["result"]?["session"]?.string)
    let world = World(journal: journal, on: thread)
    try world.beginRestoring()
    let attach = request("1", "session/attach", #"{"session":"\#(handle)"}"#)
    let (single, batch, open) = (TestClient(world), TestClient(world), TestClient(world))
    single.send(attach, request("2", "ping"))
    batch.send("[\(attach),\(attach),\(request("2", "ping"))]")
    open.send(request("1", "session/open"))
    for client in [single, batch, open] {
      client.tell(.inputEnded)
      #expect(!client.isClosed && client.writes.isEmpty)
      client.tell(.timeIsUp)
      #expect(client.isClosed)
    }
    let cancelled =
      #"{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"cancelled"}}"#
    let pong = #"{"jsonrpc":"2.0","id":2,"result":{}}"#
    try await single.expect(cancelled, pong)
    try await batch.expect("[\(cancelled),\(cancelled),\(pong)]")
    try await open.expect(cancelled)
    // The journal's result arrives too late, and changes nothing.
    world.commit()
    let friend = TestClient(world)
    friend.send(attach, request("2", "session/info"))
    world.commit()
    let info = try #require(friend.takeMessages().last)
    #expect(try JSONValue(parsing: info)["result"]?["frontends"]?.array?.count == 1, "\(info)")
  }
}
