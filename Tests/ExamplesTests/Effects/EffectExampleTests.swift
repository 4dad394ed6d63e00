// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import ServerCore
import StateMachines
import StateMachinesTesting
import StatewireJSON
import Testing

/// A service with fixed results.
struct FixedNotes: NoteService {
  var text: String? = "Text"
  var isSaved = true
  var changed: [String] = []

  func load() async -> String? { text }
  func save(_ text: String) async -> Bool { isSaved }
  func search(_ query: String) async -> [String] { query == "none" ? [] : ["found \(query)"] }
  func upload(_ text: String, operation: String) async -> Bool { operation == "test#1.3" }
  func share(_ text: String) async throws { if text.isEmpty { throw Unshared.empty } }
  enum Unshared: Error { case empty }
  var changes: AsyncStream<String> {
    AsyncStream { continuation in
      for text in changed { continuation.yield(text) }
      continuation.finish()
    }
  }
}

@Suite("The examples of docs/effects.md")
struct EffectExampleTests {
  private func notes(_ service: FixedNotes = FixedNotes()) -> TestStore<Notes> {
    TestStore(Notes(service: service))
  }

  @Test("immediate effects and work")
  func work() async throws {
    let store = notes()
    try await store.send(.cleared)
    try await store.send(.loadTapped) { $0.status = "loading" }
    try await store.receive(.loaded(text: "Text")) { ($0.text, $0.status) = ("Text", "loaded") }
    try await store.send(.cleared) { $0.text = "" }
    try await store.finish()
  }

  @Test("work that throws gives the action of its failure")
  func throwing() async throws {
    let store = notes()
    try await store.send(.shareTapped)
    try await store.receive(.failed) { $0.status = "failed" }
    try await store.send(.printTapped)
    try await store.receive(.titled("empty")) { $0.title = "empty" }
    await store.inject(.fail, into: "print")
    try await store.send(.printTapped)
    try await store.receive(.titled("an injected fault")) { $0.title = "an injected fault" }
    try await store.finish()
  }

  @Test("cancelled work folds its action; only the newest search counts")
  func cancelling() async throws {
    let store = notes()
    await store.inject(.hang, into: "load")
    try await store.send(.reloadTapped)
    try await store.send(.stopTapped) { $0.status = "stopped" }
    await store.inject(.delay(.seconds(1)), into: "search")
    try await store.send(.queryTyped(text: "old"))
    try await store.send(.queryTyped(text: "new"))
    try await store.receive(.found(lines: ["found new"])) { $0.lines = ["found new"] }
    try await store.advance(by: .seconds(1))
    try await store.finish()
  }

  @Test("after, debounced, throttled and ticks wait on the clock of the store")
  func waits() async throws {
    let store = notes()
    try await store.send(.reminderSet(seconds: 60))
    try await store.advance(by: .seconds(60))
    try await store.receive(.reminded) { $0.status = "reminded" }

    try await store.send(.typed(text: "a")) { $0.text = "a" }
    try await store.advance(by: .milliseconds(900))
    try await store.send(.typed(text: "ab")) { $0.text = "ab" }
    try await store.advance(by: .seconds(1))
    try await store.receive(.saved) { $0.status = "saved" }
    try await store.receive(event: .saved)

    try await store.send(.pasted(text: "c"))
    try await store.receive(.saved)
    try await store.receive(event: .saved)
    try await store.send(.pasted(text: "d"))
    try await store.advance(by: .seconds(1))
    try await store.receive(.saved)
    try await store.receive(event: .saved)

    try await store.send(.scrolled(line: 1)) { $0.line = 1 }
    try await store.send(.scrolled(line: 2))
    try await store.send(.scrolled(line: 3))
    try await store.advance(by: .seconds(1))
    try await store.receive(.scrolled(line: 3)) { $0.line = 3 }

    try await store.send(.saved)
    try await store.receive(event: .saved)
    try await store.send(.saved)

    try await store.send(.clockShown)
    try await store.send(.clockShown)
    try await store.advance(by: .seconds(2))
    try await store.receive(.ticked) { $0.ticks = 1 }
    try await store.receive(.ticked) { $0.ticks = 2 }
    try await store.send(.clockHidden)
    try await store.advance(by: .seconds(1))
    try await store.finish()
  }

  @Test("feeds: a source that is merged, and work that becomes a feed")
  func feeds() async throws {
    let store = notes(FixedNotes(changed: ["New"]))
    // The store begins when it is first used.
    #expect(await store.state.status == "idle")
    try await store.receive(.loaded(text: "New")) { ($0.text, $0.status) = ("New", "loaded") }
    try await store.send(.followTapped)
    try await store.receive(.loaded(text: "New"))
    try await store.send(.unfollowTapped)
    try await store.send(.followed)
    try await store.receive(.loaded(text: "Text")) { $0.text = "Text" }
    try await store.receive(.loaded(text: "New")) { $0.text = "New" }
    try await store.finish()
  }

  @Test("a feed beside work that says when it begins")
  func preview() async throws {
    try await confirmation { began in
      let store = TestStore(Notes(service: FixedNotes(), began: { began() }))
      try await store.send(.previewTapped)
      try await store.receive(.loaded(text: "Text")) { ($0.text, $0.status) = ("Text", "loaded") }
      try await store.advance(by: .seconds(2))
      try await store.receive(.ticked) { $0.ticks = 1 }
      await store.inject(.fail, into: "hide")
      try await store.send(.hidden) { $0.status = "failed" }
      try await store.send(.hidden) { ($0.text, $0.isHidden) = ("", true) }
      try await store.finish()
    }
  }

  @Test("deferred and identified effects are made when they are performed")
  func made() async throws {
    let store = TestStore(
      Notes(service: FixedNotes()), clock: ManualClock(start: .seconds(1_000)))
    try await store.send(.stamped) { $0.status = "1000" }
    try await store.send(.uploadTapped)
    try await store.receive(.uploaded) { $0.status = "uploaded" }
    try await store.finish()
  }

  @Test("a fault in a part is met by one attempt")
  func fault() async throws {
    let service = FixedNotes()
    let store = TestStore(Notes(service: service))
    await store.inject(.fail, into: "write")
    try await store.send(.saveTapped)
    try await store.receive(.retrying(attempt: 2)) { $0.status = "attempt 2" }
    try await store.advance(by: .seconds(1))
    try await store.receive(.saved) { $0.status = "saved" }
    try await store.receive(event: .saved)
    try await store.finish()
  }

  @Test("a fault of the work is met by one attempt too")
  func wholeFault() async throws {
    let store = notes()
    await store.inject(.fail, into: "save", times: 3)
    try await store.send(.saveTapped)
    try await store.receive(.retrying(attempt: 2)) { $0.status = "attempt 2" }
    try await store.advance(by: .seconds(1))
    try await store.receive(.retrying(attempt: 3)) { $0.status = "attempt 3" }
    try await store.advance(by: .seconds(2))
    try await store.receive(.failed) { $0.status = "failed" }
    try await store.finish()
  }

  @Test("each attempt has the time for itself; the last timeout is sent")
  func timeouts() async throws {
    let store = notes()
    await store.inject(.hang, into: "write", times: 3)
    try await store.send(.saveTapped)
    try await store.advance(by: .seconds(5))
    try await store.receive(.retrying(attempt: 2)) { $0.status = "attempt 2" }
    try await store.advance(by: .seconds(6))
    try await store.receive(.retrying(attempt: 3)) { $0.status = "attempt 3" }
    try await store.advance(by: .seconds(7))
    try await store.receive(.timedOut) { $0.status = "timedOut" }
    try await store.finish()
  }

  @Test("a cached action is folded immediately, a mapped one is of this machine")
  func cached() async throws {
    let store = notes()
    try await store.send(.cachedLoadTapped)
    try await store.receive(.loaded(text: "Text")) { ($0.text, $0.status) = ("Text", "loaded") }
    try await store.send(.cleared) { $0.text = "" }
    try await store.send(.cachedLoadTapped) { $0.text = "Text" }
    try await store.send(.titleTapped)
    try await store.receive(.titled("Note")) { $0.title = "Note" }
    try await store.finish()
  }

  @Test("an effect refuses its input; where no request waits, its action is folded")
  func refused() async throws {
    let store = notes()
    try await store.send(.renamed(title: "none"))
    try await store.receive(.titled("none")) { $0.title = "none" }
    try await store.send(.renamed(title: "taken"))
    let refusal = try await store.receive(refusal: .value)
    #expect(refusal.member == "title")
    try await store.receive(.failed) { $0.status = "failed" }
    try await store.finish()
  }

  @Test("a machine refuses inputs, redacts, and handles unfinished inputs after a restart")
  func machine() async throws {
    let notes = Notes(service: FixedNotes())
    let long = Notes.Input.typed(text: String(repeating: "a", count: 1_001))
    #expect(notes.refusal(of: long, in: notes.initialState)?.code == .limit("noteBytes"))
    #expect(notes.isRedaction(.hidden) && !notes.isRedaction(.saved))
    #expect(notes.interruption(in: Notes.State(status: "loading")) == .stopped)
    if case .hidden? = notes.input(for: .inactive) {} else { Issue.record("nothing is hidden") }
    _ = notes.restart(of: .reminderSet(seconds: 9), in: notes.initialState, after: .seconds(3))
    let kind = Notes.kind(FixedNotes()) { _ in
    } keep: { _ in
    }
    #expect(kind.name == "notes")
    #expect(Notes.audit { _ in }.stages == [.input])
  }

  @Test("downloads wait for permits, are retried, and time out")
  func permits() async throws {
    let store = TestStore(Downloads { $0 == "fast" ? "text" : nil })
    try await store.send(.tapped(name: "fast"))
    try await store.receive { $0.texts["fast"] = "text" }
    try await store.send(.tapped(name: "bad"))
    try await store.advance(by: .seconds(1))
    try await store.receive { $0.texts["bad"] = "failed" }
    try await store.finish()
  }

  @Test("work that ignores its cancellation is abandoned")
  func abandoned() async throws {
    let (never, end) = AsyncStream.makeStream(of: Never.self)
    let store = TestStore(
      Downloads { _ in
        // An unstructured task: the wait does not notice the cancellation.
        await Task { for await _ in never {} }.value
        return nil
      })
    try await store.send(.scanTapped)
    try await store.advance(by: .seconds(5))
    try await store.receive { $0.texts["scan"] = "timed out" }
    end.finish()
    try await store.finish()
  }

  @Test("loaders are composed")
  func loaders() async throws {
    struct Service: LoadingSource {
      func load(
        _ report: @escaping @Sendable (LoadingProgress) async -> Void
      ) async throws -> LoadedValue {
        await report(LoadingProgress(percent: 50))
        return LoadedValue(text: "Ada")
      }
    }
    let (service, cache) = (Service(), LoaderCache())
    let user = Loader.source(service, named: "user")
      .retried(attempts: 3)
      .timeout(after: .seconds(5))
      .cached("user", for: .seconds(60), in: cache)
    let store = TestStore(LoadingStore(.all([user, .sequence([user, user])])), exhaustive: false)
    try await store.send(.load)
    try await store.finish()
    let value = try LoadedValue(array: [LoadedValue(text: "Ada"), LoadedValue(text: "Ada")])
    #expect(await store.state.shown == .loaded(value: value))
  }
}
