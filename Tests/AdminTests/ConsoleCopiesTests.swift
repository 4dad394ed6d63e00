// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import ServerCore
import StateMachines
import StatewireJSON
import TestSupport
import Testing
import Transports

@testable import Admin

@Suite("Console: copies", .timeLimit(.minutes(15)))
struct ConsoleCopiesTests {
  @Test("a copy runs the inputs since a revision again, and the session does not change")
  func inputs() async throws {
    try await withConsole(kinds: kinds) { console in
      let client = try await console.client()
      let id = try await recorded(console, client, "machine")
      for note in ["a", "b", "c"] { try await client.notes(note) }
      let copy = try console.copy(of: "machine", at: 1, in: id)
      let progress = try await rest(of: copy, console)
      #expect(progress == ["total": 2, "sent": 2, "refused": 0, "busy": false])
      #expect(try console.state(of: "machine", in: copy)["notes"] == ["a", "b", "c"])
      // The hidden part of the state was copied.
      #expect(try console.state(of: "machine", in: copy)["first"] == "a")
      let session = try console.get("session?session=\(copy)")
      #expect(
        session["copy"]
          == [
            "session": .string(id), "store": "machine", "revision": 1, "work": "fail",
            "omitted": 0,
          ])
      #expect(session["handle"] == .null)

      // Without inputs, and with further ones.
      let other = try console.copy(of: "machine", at: 1, in: id, inputs: false)
      #expect(try console.state(of: "machine", in: other)["notes"] == ["a"])
      let input: JSONValue = ["type": "note", "text": "z"]
      #expect(
        try console.post("send?session=\(other)", ["store": "machine", "input": input])
          == ["revision": 2])
      #expect(try console.state(of: "machine", in: other)["notes"] == ["a", "z"])
      #expect(try console.state(of: "machine", in: id)["notes"] == ["a", "b", "c"])
      // The copies are in the list, and can end.
      #expect(try console.get("sessions")["sessions"]?.array?.count == 3)
      #expect(try console.post("end?session=\(other)", [:]) == [:])
      #expect(try console.get("session?session=\(other)")["error"] != nil)
      #expect(try console.get("sessions")["sessions"]?.array?.count == 2)
      await client.close()
    }
  }

  @Test("ticks come when the virtual clock is advanced, and work outside is not carried out")
  func virtualTime() async throws {
    let outside = Lock(0)
    let kinds = [StoreKind("machine") { Machine(outside: outside) }]
    try await withConsole(kinds: kinds) { console in
      let client = try await console.client()
      let id = try await recorded(console, client, "machine")
      try await client.notes("a")
      try await client.responds("store/send", #"{"store":"machine","input":{"type":"tick"}}"#)
      try await client.responds(
        "store/send", #"{"store":"machine","input":{"type":"call"},"settle":true}"#)
      #expect(outside.withLock { $0 } == 1)
      #expect(try console.state(of: "machine", in: id)["calls"] == ["done"])
      let copy = try console.copy(of: "machine", at: 1, in: id)
      _ = try await rest(of: copy, console)
      #expect(try console.state(of: "machine", in: copy)["calls"] == ["failed"])
      #expect(try console.state(of: "machine", in: copy)["ticks"] == 0)
      #expect(try console.post("advance?session=\(copy)", ["seconds": 10_800]) == [:])
      _ = try await rest(of: copy, console)
      #expect(try console.state(of: "machine", in: copy)["ticks"] == 3)
      #expect(try console.state(of: "machine", in: id)["ticks"] == 0)
      // Work that does not end.
      let hanging = try console.copy(of: "machine", at: 1, in: id, work: "hang")
      _ = try await rest(of: hanging, console)
      #expect(try console.state(of: "machine", in: hanging)["calls"] == [])
      #expect(outside.withLock { $0 } == 1)
      // A server without --test has no clock to advance.
      #expect(try console.post("advance?session=\(id)", ["seconds": 1])["error"] != nil)
      await client.close()
    }
  }

  @Test("a copy redacts the same members as the session")
  func secrets() async throws {
    try await withConsole(kinds: kinds) { console in
      let client = try await console.client()
      let id = try await recorded(console, client, "vault")
      try await client.writes(note: "n", pin: "pin-1")
      try await client.writes(note: "m", pin: "pin-5")
      let copy = try console.copy(of: "vault", at: 0, in: id)
      _ = try await rest(of: copy, console)
      for path in ["session?", "state?store=vault&", "timeline?"].map({ $0 + "session=\(copy)" }) {
        let text = try console.get(path).description
        #expect(!text.contains("pin-1") && !text.contains("pin-5"), "\(path)")
      }
      #expect(try console.state(of: "vault", in: copy)["note"] == "m")
      await client.close()
    }
  }

  @Test("the page says why a store cannot be copied")
  func refusals() async throws {
    try await withConsole(kinds: kinds) { console in
      let client = try await console.client()
      let id = try await recorded(console, client, "opaque")
      try await client.responds("store/send", #"{"store":"opaque","input":{"type":"count"}}"#)
      func reason(_ store: String, _ revision: Int) throws -> String {
        let body: JSONValue = [
          "store": .string(store), "revision": JSONValue(revision), "inputs": true, "work": "fail",
        ]
        return try #require(try console.post("copy?session=\(id)", body)["error"]?.string)
      }
      #expect(try reason("opaque", 1).contains("not Codable"))
      #expect(try reason("opaque", 7).contains("not recorded"))
      #expect(try reason("nothing", 1).contains("no open store"))
      #expect(try console.post("copy?session=\(id)", ["store": "opaque"])["error"] != nil)
      await client.close()
    }
  }

  @Test("there are at most 8 copies: the one that was used least recently ends")
  func bound() async throws {
    try await withConsole(kinds: kinds) { console in
      let client = try await console.client()
      let id = try await recorded(console, client, "machine")
      let first = try console.copy(of: "machine", at: 0, in: id)
      let second = try console.copy(of: "machine", at: 0, in: id)
      _ = try console.get("session?session=\(first)")
      for _ in 0..<7 { _ = try console.copy(of: "machine", at: 0, in: id) }
      #expect(try console.get("sessions")["sessions"]?.array?.count == 9)
      #expect(try console.get("session?session=\(second)")["error"] != nil)
      #expect(try console.get("session?session=\(first)")["error"] == nil)
      await client.close()
    }
  }

  private var kinds: [StoreKind] {
    [
      StoreKind("vault") { Vault() }.concealing("pin"),
      StoreKind("machine") { Machine(outside: Lock(0)) }, StoreKind("opaque") { Opaque() },
    ]
  }

  /// Opens a store in a session that is recorded, and returns the id of the session.
  private func recorded(
    _ console: ConsoleClient, _ client: ClientConnection, _ store: String
  ) async throws -> String {
    try await client.responds("store/open", #"{"store":"\#(store)","kind":"\#(store)"}"#)
    let id = try #require(try console.get("sessions")["sessions"]?[0]?["id"]?.string)
    _ = try console.post("record?session=\(id)", [:])
    return id
  }

  /// Returns the progress of a copy when it is idle.
  private func rest(of copy: String, _ console: ConsoleClient) async throws -> JSONValue {
    var progress: JSONValue?
    try await eventually("the copy is idle") {
      progress = try console.get("session?session=\(copy)")["progress"]
      return progress?["busy"] == false && progress?["sent"] == progress?["total"]
    }
    return try #require(progress)
  }
}

extension ConsoleClient {
  /// Runs a copy, and returns its id.
  fileprivate func copy(
    of store: String, at revision: Int, in session: String, inputs: Bool = true,
    work: String = "fail"
  ) throws -> String {
    let body: JSONValue = [
      "store": .string(store), "revision": JSONValue(revision), "inputs": .bool(inputs),
      "work": .string(work),
    ]
    let response = try post("copy?session=\(session)", body)
    return try #require(response["session"]?.string, "\(response)")
  }

  /// Returns the state of a store.
  fileprivate func state(of store: String, in session: String) throws -> JSONValue {
    let response = try get("state?session=\(session)&store=\(store)")
    return try #require(response["state"], "\(response)")
  }
}

extension ClientConnection {
  fileprivate func notes(_ text: String) async throws {
    let input = #"{"type":"note","text":"\#(text)"}"#
    try await responds("store/send", #"{"store":"machine","input":\#(input)}"#)
  }
}

/// A machine whose view shows less than its state, with ticks and with work outside of the store.
private struct Machine: StateMachine {
  enum Input: Codable, Sendable {
    case note(text: String)
    case tick, call
  }
  enum Action: Sendable {
    case noted(String)
    case ticked
    case called(String)
  }
  struct State: Codable, Sendable {
    var all: [String: [String]] = ["notes": []]
    var ticks = 0
    var calls: [String] = []
  }
  struct View: Codable, Sendable {
    var notes: [String]
    var first: String?
    var ticks: Int
    var calls: [String]
  }

  let outside: Lock<Int>
  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .note(let text): .action(.noted(text))
    case .tick: .ticks("ticks", every: .seconds(3_600)) { .ticked }
    case .call:
      .run("call") { [outside] context in
        outside.withLock { $0 += 1 }
        await context.send(.called("done"))
      }.operation("call", failing: .called("failed")) { action in
        if case .called("failed") = action { true } else { false }
      }
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    switch action {
    case .noted(let text): state.all["notes", default: []].append(text)
    case .ticked: state.ticks += 1
    case .called(let outcome): state.calls.append(outcome)
    }
  }

  func view(of state: State) -> View {
    let notes = state.all["notes"] ?? []
    return View(notes: notes, first: notes.first, ticks: state.ticks, calls: state.calls)
  }
}

/// A machine whose state is not `Codable`.
private struct Opaque: StateMachine {
  enum Input: Codable, Sendable { case count }
  enum Action: Sendable { case counted }
  struct State: Sendable { var count = 0 }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Action> { .action(.counted) }
  func reduce(_ state: inout State, _ action: Action) { state.count += 1 }
  func view(of state: State) -> Int { state.count }
}
