// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StateMachinesTesting
import Testing

/// A service that accepts everything except one text.
struct FixedDrafts: DraftService {
  func save(_ text: String) async throws {}
  func publish(_ text: String) async throws -> Bool { text != "known" }
}

@Suite("Drafts")
struct DraftTests {
  let store = TestStore(Draft(service: FixedDrafts()))

  @Test("is saved one second after the last change")
  func saves() async throws {
    try await store.send(.typed(text: "a")) { ($0.text, $0.status) = ("a", "changed") }
    try await store.advance(by: .milliseconds(900))
    try await store.send(.typed(text: "ab")) { $0.text = "ab" }
    try await store.advance(by: .seconds(1))
    try await store.receive(.saved) { $0.status = "saved" }
    try await store.finish()
  }

  @Test("publishes")
  func publishes() async throws {
    try await store.send(.publishTapped) { $0.status = "publishing" }
    try await store.receive(.published) { $0.status = "published" }
    try await store.receive(event: .published)
    try await store.finish()
  }

  @Test("refuses an empty text, a long one, and one that is published already")
  func refuses() async throws {
    let refusal = try await store.send(.typed(text: ""), refused: .value)
    #expect(refusal.member == "text")
    let long = String(repeating: "a", count: 101)
    try await store.send(.typed(text: long), refused: .limit("draftBytes"))

    try await store.send(.typed(text: "known")) { ($0.text, $0.status) = ("known", "changed") }
    try await store.send(.publishTapped) { $0.status = "publishing" }
    try await store.receive(refusal: .value)
    try await store.receive(.publishFailed) { $0.status = "publishFailed" }
    await store.cancelAll()
  }

  @Test("saves again when a save fails, at most twice")
  func retries() async throws {
    await store.inject(.fail, into: "save", times: 2)
    try await store.send(.typed(text: "a")) { ($0.text, $0.status) = ("a", "changed") }
    try await store.advance(by: .seconds(4))
    try await store.receive(.saved) { $0.status = "saved" }

    await store.inject(.fail, into: "save", times: 3)
    try await store.send(.typed(text: "b")) { ($0.text, $0.status) = ("b", "changed") }
    try await store.advance(by: .seconds(4))
    try await store.receive(.saveFailed) { $0.status = "saveFailed" }
    try await store.finish()
  }

  @Test("saves after a restart what was not saved; a lost input to publish has failed")
  func restarts() async throws {
    try await store.send(.typed(text: "a")) { ($0.text, $0.status) = ("a", "changed") }
    try await store.restart(after: .seconds(3))
    try await store.receive(.saved) { $0.status = "saved" }

    await store.inject(.hang, into: "publish")
    try await store.send(.publishTapped) { $0.status = "publishing" }
    try await store.restart(losingInputs: true) { $0.status = "publishFailed" }
    try await store.finish()
  }

  @Test("opens in a state of an earlier process")
  func opens() async throws {
    let store = try await TestStore(
      restoring: Draft(service: FixedDrafts()), from: #"{"text":"a","status":"saved"}"#)
    #expect(await store.state == Draft.State(text: "a", status: "saved"))
    try await store.finish()
  }

  @Test("publishes what was typed")
  func publishesText() async throws {
    let store = TestStore(
      Draft(service: FixedDrafts()), state: Draft.State(text: "a", status: "saved"),
      exhaustive: false)
    try await store.send(.typed(text: "ab"))
    try await store.send(.publishTapped)
    try await store.receive(.published) { $0.text = "ab" }
    try await store.finish()
  }
}
