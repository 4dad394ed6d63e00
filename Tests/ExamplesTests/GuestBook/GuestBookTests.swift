// SPDX-License-Identifier: Apache-2.0

import Documents
import StateMachines
import StateMachinesTesting
import Testing

@testable import GuestBook

@Suite("The guest book example")
struct GuestBookTests {
  private let storage = MemoryDocumentStorage()
  private let ann = GuestBook.Entry(id: 1, name: "Ann", text: "Hello")

  private func opened() async throws -> TestStore<GuestBook> {
    let store = TestStore(GuestBook(entries: Table("guestBook", in: storage)))
    try await store.receive { $0.entries = TableRows([], position: 0) }
    return store
  }

  @Test("shows an entry in all stores")
  func signing() async throws {
    let (one, two) = (try await opened(), try await opened())
    try await one.send(.signed(name: "Ann", text: "Hello"))
    for store in [one, two] {
      try await store.receive { $0.entries = TableRows([ann], position: 1) }
    }
    try await two.send(.liked(id: 1))
    var liked = ann
    liked.likes = 1
    for store in [two, one] {
      try await store.receive { $0.entries = TableRows([liked], position: 2) }
    }
    try await one.send(.removed(id: 1))
    for store in [one, two] {
      try await store.receive { $0.entries = TableRows([], position: 3) }
      try await store.finish()
    }
  }

  @Test("refuses a signature without a name, and a like of no entry")
  func refusals() async throws {
    let store = try await opened()
    try await store.send(.signed(name: "", text: "Hello"), refused: .value)
    try await store.send(.liked(id: 7))
    try await store.receive(refusal: .value)
    try await store.receive { $0.problem = "no such entry" }
    try await store.finish()
  }

  @Test("shows a failure of the storage until the next change")
  func failure() async throws {
    let store = try await opened()
    await store.inject(.fail, into: "guestBook.append")
    try await store.send(.signed(name: "Ann", text: "Hello"))
    try await store.receive { $0.problem = "an injected fault" }
    try await store.send(.signed(name: "Ann", text: "Hello"))
    try await store.receive {
      $0.entries = TableRows([ann], position: 1)
      $0.problem = nil
    }
    try await store.finish()
  }

  @Test("continues after a restart")
  func restart() async throws {
    let store = try await opened()
    try await store.send(.signed(name: "Ann", text: "Hello"))
    try await store.receive { $0.entries = TableRows([ann], position: 1) }
    try await store.restart()
    try await store.receive(.entriesChanged(TableChange([], position: 1)))
    try await store.finish()
  }
}
