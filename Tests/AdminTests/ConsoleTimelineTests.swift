// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import ServerCore
import StateMachines
import StatewireJSON
import TestSupport
import Testing
import TransportTestSupport
import Transports

@testable import Admin

@Suite("Console: timeline and operating", .timeLimit(.minutes(15)))
struct ConsoleTimelineTests {
  /// Returns the id of the only session.
  private func session(_ console: ConsoleClient) throws -> String {
    try #require(try console.get("sessions")["sessions"]?[0]?["id"]?.string)
  }

  @Test("a session is recorded from the first request on, without secrets")
  func timeline() async throws {
    try await withConsole { console in
      let client = try await console.client()
      try await client.writes(note: "before", pin: "pin-1")
      let id = try session(console)
      #expect(try console.get("timeline?session=\(id)")["recording"] == false)
      #expect(try console.post("record?session=\(id)", [:]) == ["recording": true])
      try await client.writes(note: "n", pin: "pin-2")
      try await client.writes(note: "o", pin: "pin-3")

      let timeline = try console.get("timeline?session=\(id)")
      let events = try #require(timeline["events"]?.array)
      let types = events.compactMap { $0["type"]?.string }
      let input = ["input", "action", "update", "end"]
      #expect(types == ["opened"] + input + input)
      #expect(events[1]["name"] == "write")
      #expect(events[1]["input"] == ["type": "write", "note": "n", "pin": "(redacted)"])
      #expect(events[3]["base"] == 1)
      #expect(events[3]["revision"] == 2)
      for secret in ["pin-1", "pin-2", "pin-3"] {
        #expect(!timeline.description.contains(secret))
      }
      let last = try #require(timeline["last"]?.int)
      #expect(timeline["read"]?.int == last)
      #expect(try console.get("timeline?session=\(id)&after=\(last)")["events"] == [])
      #expect(try console.get("timeline?session=\(id)&after=\(Int.max)")["events"] == [])
      let all = try console.get("timeline?session=\(id)&after=\(Int.min)")["events"]
      #expect(all?.array?.count == events.count)

      let earlier = try console.get("state?session=\(id)&store=vault&revision=2")
      #expect(earlier["state"]?["note"] == "n")
      #expect(earlier["state"]?["pin"] == "(redacted)")
      #expect(try console.get("state?session=\(id)&store=vault&revision=0")["error"] != nil)
      await client.close()
    }
  }

  @Test("what a client sends in a wrong place is not shown if the kind has secrets")
  func misplacedSecrets() async throws {
    try await withConsole { console in
      let client = try await console.client()
      try await client.writes(note: "before", pin: "1")
      let id = try session(console)
      _ = try console.post("record?session=\(id)", [:])
      let inputs = [
        #""777777777777""#, #"["777777777777"]"#, "777777777777", #"{"type":"777777777777"}"#,
        #"{"type":"write","777777777777":1}"#,
        #"{"type":"write","note":"n","pin":"1","pni":"777777777777"}"#,
        #"{"type":"write","note":{"pin":"777777777777"}}"#, #"{"note":{"x":["777777777777"]}}"#,
      ]
      for input in inputs {
        try await client.send(
          #"{"jsonrpc":"2.0","id":2,"method":"store/send","params":{"store":"vault","input":\#(input)}}"#
        )
      }
      try await client.responds("ping", "{}")
      let timeline = try console.get("timeline?session=\(id)")
      let sent = try #require(timeline["events"]?.array).compactMap { $0["input"] }
      #expect(sent.count == inputs.count)
      #expect(!timeline.description.contains("777777777777"))
      #expect(
        sent[5] == ["type": "write", "note": "n", "pin": "(redacted)", "(redacted)": "(redacted)"])
      await client.close()
    }
  }

  // A request in the shape of an earlier one takes a fast path, which leaves what it cannot read to the
  // slow path. The recording used to have a refusal for it, also if the slow path accepted the input.
  @Test("an input that the fast path leaves to the slow path is recorded once")
  func fastPath() async throws {
    try await withConsole { console in
      let client = try await console.client()
      try await client.writes(note: "before", pin: "1")
      let id = try session(console)
      _ = try console.post("record?session=\(id)", [:])
      for _ in 0..<3 { try await client.writes(note: "n", pin: "2") }
      let input = #"{"type":"write","note":"n","pin":"2"}"#
      try await client.responds("store/send", #"{"store":"vault","input":\#(input),"settle":true}"#)
      try await client.send(
        #"{"jsonrpc":"2.0","id":2,"method":"store/send","params":{"store":"vault","input":{"type":"none"}}}"#
      )
      try await client.responds("ping", "{}")
      let events = try #require(try console.get("timeline?session=\(id)")["events"]?.array)
      let types = events.compactMap { $0["type"]?.string }
      #expect(types.count { $0 == "input" } == 4)
      #expect(types.count { $0 == "refused" } == 1)
      await client.close()
    }
  }

  @Test("an operator sends inputs, closes stores, evicts clients and ends sessions")
  func operating() async throws {
    try await withConsole { console in
      let client = try await console.client()
      _ = try await client.opens("driver")
      try await client.writes(note: "n", pin: "1")
      let id = try session(console)
      let input: JSONValue = ["type": "write", "note": "from the console", "pin": "2"]
      #expect(
        try console.post("send?session=\(id)", ["store": "vault", "input": input])
          == ["revision": 2])
      let wrong = try console.post(
        "send?session=\(id)", ["store": "vault", "input": ["type": "none"]])
      #expect(try #require(wrong["error"]?.string).contains("none"))
      let missing = try console.post("send?session=\(id)", ["store": "other", "input": input])
      #expect(missing["error"] == "no store is named \"other\"")
      #expect(try console.post("send?session=\(id)", ["store": "vault"])["error"] != nil)

      #expect(try console.post("close?session=\(id)", ["store": "vault"]) == [:])
      #expect(try console.post("close?session=\(id)", ["store": "vault"])["error"] != nil)
      let participant = try console.get("session?session=\(id)")["participants"]?[0]
      let name = try #require(participant?["client"]?.string)
      #expect(try console.post("evict?session=\(id)", ["client": "x"])["error"] != nil)
      #expect(try console.post("evict?session=\(id)", ["client": .string(name)]) == [:])
      #expect(try console.get("session?session=\(id)")["participantCount"] == 0)
      #expect(try console.post("end?session=\(id)", [:]) == [:])
      #expect(try console.get("session?session=\(id)")["error"] != nil)
      // Nothing changes by GET.
      #expect(
        try console.get("end?session=\(id)")["error"]
          == "there is no such path, or it has another method")
      await client.close()
    }
  }

  @Test("the schemas of all kinds are those of the description")
  func schemas() async throws {
    try await withConsole { console async throws in
      let schema = try console.get("schema")
      let name = try #require(schema["stores"]?["vault"]?["input"]?["$ref"]?.string)
      let input = schema[try JSONPointer(parsing: String(name.dropFirst()))]
      #expect(input?.description.contains("note") == true)
    }
  }

  @Test("the clock and faults of a server under test; other servers have neither")
  func testMode() async throws {
    let fault: JSONValue = ["store": "vault", "operation": "write", "fault": "fail"]
    for isTest in [true, false] {
      try await withConsole(isTest: isTest) { console in
        let client = try await console.client()
        try await client.writes(note: "n", pin: "1")
        let id = try session(console)
        #expect(try console.get("server")["isTest"] == .bool(isTest))
        #expect((try console.post("fault?session=\(id)", fault) == [:]) == isTest)
        #expect(try console.post("fault?session=\(id)", ["store": "vault"])["error"] != nil)
        _ = try console.post("record?session=\(id)", [:])
        #expect((try console.post("advance", ["seconds": 90]) == [:]) == isTest)
        #expect(try console.post("advance", ["seconds": -1])["error"] != nil)
        if isTest {
          try await client.writes(note: "o", pin: "1")
          let events = try console.get("timeline?session=\(id)")["events"]?.array ?? []
          let input = try #require(events.first { $0["type"] == "input" })
          #expect(try #require(input["at"]?.int) >= 90_000_000)
        }
        await client.close()
      }
    }
  }

  @Test("the server is drained if its program permits it")
  func drain() async throws {
    let drained = Lock(0)
    let operations = ConsoleOperations { drained.withLock { $0 += 1 } }
    try await withConsole(operations: operations) { console async throws in
      #expect(try console.get("drain")["error"] != nil)
      #expect(drained.withLock { $0 } == 0)
      #expect(try console.post("drain", [:]) == [:])
      #expect(drained.withLock { $0 } == 1)
    }
    try await withConsole { console async throws in
      #expect(try console.post("drain", [:])["error"] != nil)
    }
  }
}
