// SPDX-License-Identifier: Apache-2.0

import Sessions
import StatewireJSON
import StatewireProtocol
import Testing

@testable import ServerCore

/// What is written down before a peer gets to see it.
@Suite("Connections and the journal")
struct JournalTests {
  private func keep(_ id: String, _ value: String) -> String {
    request(
      id, "store/send",
      #"{"store":"loose","input":{"type":"keep","value":"\#(value)"}}"#)
  }

  @Test("nothing goes out before it is written down")
  func order() {
    let journal = PlainJournal()
    let peer = Peer(World(journal: journal))
    peer.send(request("1", "session/open"))
    #expect(journal.commits.count == 1)
    var counts: [Int] = []
    peer.writing = { counts.append(journal.commits.count) }
    peer.send(keep("2", "a"), keep("3", "b"))
    #expect(counts == [2])
    // What changes nothing is not waited for.
    peer.send(request("4", "ping"))
    #expect(counts == [2, 2])
  }

  @Test("a turn that writes much sends it between messages, each as far as it is written down")
  func much() {
    let journal = PlainJournal()
    let peer = Peer(World(journal: journal))
    peer.send(request("1", "session/open"))
    peer.send(request("2", "store/subscribe", #"{"store":"loose"}"#))
    var counts: [Int] = []
    peer.writing = { counts.append(journal.commits.count) }
    let value = String(repeating: "x", count: 200_000)
    let before = journal.commits.count
    peer.send(keep("3", value), keep("4", "short"), keep("5", value + "y"), keep("6", "z"))
    #expect(counts == [before + 1, before + 2])
  }

  @Test(
    "whoever is in a session that cannot be written down is cut off, even if it is told nothing")
  func nothingTold() throws {
    let journal = PlainJournal()
    let world = World(journal: journal)
    let (peer, friend, other) = (Peer(world), Peer(world), Peer(world))
    peer.send(request("1", "session/open"))
    let handle = try #require(
      JSONValue(parsing: peer.takeMessages()[0])["result"]?["session"]?.string)
    friend.send(request("1", "session/attach", #"{"session":"\#(handle)","revisions":{}}"#))
    other.send(request("1", "session/open"))
    let written = [peer, friend].map(\.writes.count)
    journal.isFull = true
    // It is answered once it has settled, and that only once it is written down.
    peer.send(
      request(
        "2", "store/send",
        #"{"store":"loose","settle":true,"input":{"type":"keep","value":1}}"#))
    #expect(peer.isAbandoned && friend.isAbandoned && !other.isAbandoned)
    #expect([peer, friend].map(\.writes.count) == written)
  }

  @Test("a peer is cut off that would see what cannot be written down; others are not")
  func failure() throws {
    let journal = PlainJournal()
    let world = World(journal: journal)
    let (peer, other) = (Peer(world), Peer(world))
    peer.send(request("1", "session/open"))
    other.send(request("1", "ping"))
    let (written, elsewhere) = (peer.writes.count, other.writes.count)
    journal.isFull = true
    peer.send(keep("2", "a"))
    #expect(peer.isAbandoned && peer.writes.count == written)
    // One whose session nobody writes down.
    other.send(keep("2", "a"))
    #expect(!other.isAbandoned && other.writes.count == elsewhere + 1)
    // When something can be written again, all of the session is.
    let text = try #require(
      JSONValue(parsing: peer.writes[0])["result"]?["session"]?.string)
    journal.isFull = false
    world.clock.advance(to: world.clock.now.advanced(by: .seconds(1)))
    let later = Peer(world)
    later.send(
      request(
        "1", "session/attach", #"{"session":"\#(text)","revisions":{"loose":null}}"#))
    #expect(!later.isAbandoned && later.writes.count == 1)
    let stores = journal.commits.last?.compactMap { entry in
      if case .store(let name, .opened) = entry.event { name } else { nil }
    }
    #expect(stores == ["loose"])
  }
}
