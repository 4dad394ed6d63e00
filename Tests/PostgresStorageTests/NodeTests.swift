// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import ClientTransports
import Documents
import Foundation
import Logging
import PostgresConnections
import PostgresStorage
import PostgresTestSupport
import StateMachines
import StatewireServer
import TestSupport
import Testing
import TransportSupport
import Transports

/// A table that all sessions show.
private struct Notes: StateMachine {
  struct Note: Codable, Equatable, Identifiable, Sendable {
    let id: Int
    let text: String
  }
  enum Input: Codable, Sendable { case noteAdded(text: String) }
  enum Action: Sendable {
    case changed(TableChange<Note>)
    case failed(DocumentError)
  }
  struct State: Codable, Sendable { var notes = TableRows<Note>() }

  let notes: Table<Note>
  let initialState = State()

  var initialEffect: Effect<Action> {
    notes.watch(failing: Action.failed, as: Action.changed)
  }

  func effect(of input: Input, in state: State) -> Effect<Action> {
    switch input {
    case .noteAdded(let text): notes.append(failing: Action.failed) { Note(id: $0, text: text) }
    }
  }

  func reduce(_ state: inout State, _ action: Action) {
    if case .changed(let change) = action { state.notes.apply(change) }
  }

  func view(of state: State) -> KeyedList<Note> { state.notes.rows }
}

@Suite("Nodes that share lists", .needsPostgres, .serialized, .timeLimit(.minutes(15)))
struct NodeTests {
  /// Runs servers as nodes of one database.
  private func withNodes(
    _ names: [String], _ body: (_ addresses: [ServerAddress], SharedDatabase) async throws -> Void
  ) async throws {
    let database = try SharedDatabase(.common())
    let (started, starts) = AsyncStream.makeStream(of: (Int, ServerAddress).self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, name) in names.enumerated() {
        let port = Int.random(in: 15_000..<32_000)
        let address = ServerAddress.tcp(host: "127.0.0.1", port: port)
        var configuration = ServerConfiguration(
          kinds: .builtin
            + ServerKinds { context in
              [StoreKind("notes") { Notes(notes: Table("notes", in: context.documents)) }]
            },
          logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        configuration.listeners = [address]
        configuration.handlesSignals = false
        var cluster = ClusterConfiguration(
          database: database.address, name: name, address: address)
        // Many tests run at the same time, and a node that cannot renew its lease serves no client.
        cluster.lease = .seconds(120)
        configuration.cluster = cluster
        let complete = configuration
        group.addTask {
          try await Server.run(complete) { _ in starts.yield((index, address)) }
        }
      }
      var addresses: [Int: ServerAddress] = [:]
      for await (index, address) in started {
        addresses[index] = address
        if addresses.count == names.count { break }
      }
      try await body(names.indices.compactMap { addresses[$0] }, database)
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  @Test("a client of one node sees what a client of another one adds, and the same balance")
  func sharing() async throws {
    try await withNodes(["a", "b"]) { addresses, database in
      let (one, other) = (
        try await Client(addresses[0], "one"), try await Client(addresses[1], "other")
      )
      for store in ["todo", "notes"] {
        _ = try await one.call("store/subscribe", "{\"store\":\"\(store)\"}")
        _ = try await other.call("store/subscribe", "{\"store\":\"\(store)\"}")
      }
      for client in [one, other] {
        _ = try await client.send("todo", #"{"type":"stateRequested"}"#)
      }
      _ = try await one.send("todo", #"{"type":"todoAdded","title":"Tea"}"#)
      // The sender has its update before the response.
      #expect(one.notifications.contains { $0.contains("Tea") })
      #expect(try await other.notification("Tea").contains("store/changed"))
      _ = try await other.send("notes", #"{"type":"noteAdded","text":"Hello"}"#)
      #expect(other.notifications.contains { $0.contains("Hello") })
      #expect(try await one.notification("Hello").contains("store/changed"))
      let storage = database.node("ledger")
      try await storage.ledger.post(amount: try #require(DecimalNumber("12.5")))
      for client in [one, other] {
        _ = try await client.send("balance", #"{"type":"viewDidAppear"}"#)
        let state = try await client.call("store/state", #"{"store":"balance"}"#)
        #expect(state.contains("12.50"))
      }
      storage.close()
      await one.close()
      await other.close()
    }
  }

  /// A client with a session.
  private final class Client {
    private let connection: ClientConnection
    private(set) var notifications: [String] = []
    private var last = 0
    private var sequence = 0

    init(_ address: ServerAddress, _ frontend: String) async throws {
      connection = try await ClientConnection.connect(to: address, framing: .lines)
      _ = try await call("session/open", "{\"frontend\":\"\(frontend)\"}")
    }

    func call(_ method: String, _ params: String) async throws -> String {
      last += 1
      try await connection.send(
        Array(#"{"jsonrpc":"2.0","id":\#(last),"method":"\#(method)","params":\#(params)}"#.utf8))
      while true {
        let text = try await receive()
        guard text.contains("\"id\":\(last),") else {
          notifications.append(text)
          continue
        }
        #expect(!text.contains("\"error\""), "\(text)")
        return text
      }
    }

    func send(_ store: String, _ input: String) async throws -> String {
      sequence += 1
      return try await call(
        "store/send",
        #"{"store":"\#(store)","input":\#(input),"settle":true,"sequence":\#(sequence)}"#)
    }

    /// Waits for a notification with a text.
    func notification(_ part: String) async throws -> String {
      while true {
        if let found = notifications.first(where: { $0.contains(part) }) { return found }
        notifications.append(try await receive())
      }
    }

    private func receive() async throws -> String {
      String(decoding: try #require(try await connection.receive()), as: UTF8.self)
    }

    func close() async { await connection.close() }
  }
}
