// SPDX-License-Identifier: Apache-2.0

import Documents
import StateMachines
import StateMachinesTesting
import Testing

@Suite("The poll of docs/storage.md")
struct PollTests {
  @Test("keeps the votes in the document")
  func votes() async throws {
    let storage = MemoryDocumentStorage()
    let one = TestStore(Poll(documents: storage))
    try await one.receive()
    try await one.send(.voted(person: "Ann", option: "tea"))
    try await one.receive { $0.options = ["Ann": "tea"] }
    try await one.finish()
    let two = TestStore(Poll(documents: storage))
    try await two.receive { $0.options = ["Ann": "tea"] }
    try await two.finish()
  }

  @Test("refuses votes when the stored poll is closed")
  func closed() async throws {
    let storage = MemoryDocumentStorage()
    _ = try await storage.update("document/poll", reading: [], once: nil) { _, _ in
      [.put(StoredRow(id: "", version: 1, value: Array(#"{"isClosed":true}"#.utf8)))]
    }
    let store = TestStore(Poll(documents: storage))
    // The member that the stored value lacks is filled in.
    try await store.receive { $0.isClosed = true }
    try await store.send(.voted(person: "Ann", option: "tea"))
    try await store.receive(refusal: .value)
    try await store.receive()
    try await store.finish()
  }

  @Test("migrates rows of an older version, and fills in members")
  func migration() async throws {
    let storage = MemoryDocumentStorage()
    _ = try await storage.update("guests", reading: [], once: nil) { _, _ in
      [.put(StoredRow(id: "1", version: 1, value: Array(#"{"id":1,"title":"Ann"}"#.utf8)))]
    }
    let store = TestStore(Reader(guests: Guests.table(in: storage)))
    try await store.receive { $0 = ["Ann 0"] }
    try await store.finish()
  }

  private struct Reader: StateMachine {
    let guests: Table<Guests.Guest>
    let initialState: [String] = []
    var initialEffect: Effect<[String]> {
      guests.watch(
        failing: { ["\($0)"] },
        as: { change in
          change.steps.compactMap { step in
            if case .put(let guest) = step { "\(guest.name) \(guest.stars)" } else { nil }
          }
        })
    }
    func effect(of input: Int, in state: [String]) -> Effect<[String]> { .none }
    func reduce(_ state: inout [String], _ action: [String]) { state = action }
  }
}
