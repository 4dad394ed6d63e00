// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import StatewireProtocol
import Testing

@testable import Sessions

/// Coalesced updates to slow consumers.
@Suite("Coalescing", .timeLimit(.minutes(15)))
struct CoalescingTests {
  @Test("pending changes become one coalesced update for each store, from the client's revision")
  func merged() async throws {
    try await Shard.make(.counters).run { shard in
      let (slow, quick) = (Listener(), Listener())
      let session = Session(isolation: shard)
      _ = try session.open("b", kind: "counter", configuration: [:], isolation: shard)
      for listener in [slow, quick] {
        try session.attach(listener.id(on: shard), to: "counter", isolation: shard).subscribe(
          .patch)
      }
      try session.attach(slow.id(on: shard), to: "b", isolation: shard).subscribe(.state)
      let subscription = try session.attach(slow.id(on: shard), to: "counter", isolation: shard)
      let other = try session.attach(slow.id(on: shard), to: "b", isolation: shard)
      slow.stop()
      try subscription.send(#"{"type":"add","amount":1}"#, request: "7")
      try other.send(#"{"type":"addEach","amounts":[1,2,3]}"#)
      try subscription.send(#"{"type":"add","amount":2}"#)
      #expect(slow.take() == [])
      #expect(quick.take().count == 2)
      slow.catchUp()
      #expect(
        slow.take() == [
          #": "store":"counter","base":0,"revision":2,"patch":["#
            + #"{"op":"replace","path":"/count","value":1},"#
            + #"{"op":"replace","path":"/count","value":3}]"#,
          #": "store":"b","base":0,"revision":3,"state":{"count":6}"#,
        ])
      try subscription.send(#"{"type":"add","amount":1}"#)
      #expect(slow.take().count == 1)
    }
  }

  @Test("the state is not written for a client that does not read")
  func unwritten() async throws {
    try await Shard.make(.counters).run { shard in
      let slow = Listener()
      let session = Session(isolation: shard)
      let subscription = try session.attach(slow.id(on: shard), to: "counter", isolation: shard)
      subscription.subscribe(.state)
      let entry = subscription.storeEntry
      #expect(entry.isStateReadNow)
      slow.stop()
      try subscription.send(#"{"type":"add","amount":1}"#, request: "1")
      #expect(!entry.isStateReadNow)
      try subscription.send(#"{"type":"add","amount":2}"#, request: "2")
      slow.catchUp()
      #expect(
        slow.take() == [#"2: "store":"counter","base":0,"revision":2,"state":{"count":3}"#])
      #expect(entry.isStateReadNow)
      try subscription.send(#"{"type":"add","amount":1}"#, request: "3")
      #expect(
        slow.take() == [#"3: "store":"counter","base":2,"revision":3,"state":{"count":4}"#])
    }
  }

  @Test("a thousand pending changes become one update that contains the whole state")
  func state() async throws {
    try await Shard.make(.counters).run { shard in
      let slow = Listener()
      let session = Session(isolation: shard)
      let subscription = try session.attach(slow.id(on: shard), to: "counter", isolation: shard)
      subscription.subscribe(.patch)
      slow.stop()
      for _ in 1...1000 { try subscription.send(#"{"type":"add","amount":1}"#, request: "1") }
      slow.catchUp()
      #expect(
        slow.take() == [
          #"1: "store":"counter","base":0,"revision":1000,"#
            + #""patch":[{"op":"replace","path":"","value":{"count":1000}}]"#
        ])
    }
  }

  @Test(
    "a new subscription, a read of the state or the end of the store flushes the pending update")
  func finished() async throws {
    try await Shard.make(.counters).run { shard in
      let slow = Listener()
      let session = Session(isolation: shard)
      let subscription = try session.attach(slow.id(on: shard), to: "counter", isolation: shard)
      subscription.subscribe(.patch)
      for ending in ["subscribe", "state", "close"] {
        slow.stop()
        let before = subscription.revision
        try subscription.send(#"{"type":"add","amount":1}"#)
        switch ending {
        case "subscribe": subscription.subscribe(.patch)
        case "state": _ = subscription.stateText
        default: try session.close("counter", isolation: shard)
        }
        let received = slow.take()
        #expect(received.first?.contains(#""base":\#(before),"revision":\#(before + 1)"#) == true)
        slow.catchUp()
        #expect(slow.take() == [])
      }
    }
  }
}
