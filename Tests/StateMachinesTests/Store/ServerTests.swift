// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@testable import StateMachines

@Suite("Store: who serves it")
struct ServerTests {
  private final class Server: StoreServer {
    let told: Record<String>
    /// What it does besides.
    var whenPublished: ((_ base: Revision?) -> Void)?
    var whenHappened: (() -> Void)?
    var needsPatches = true
    init(_ told: Record<String>) { self.told = told }

    func published(_ publication: borrowing Publication) {
      told.add("served \(publication.base ?? -1) \(publication.revision)")
      whenPublished?(publication.base)
    }

    func happened(_ event: UnsafeRawBufferPointer) {
      told.add("served \(String(decoding: event, as: UTF8.self))")
      whenHappened?()
    }

    func failed(_ error: JSONError) { told.add("failed \(error.pathDescription)") }
  }

  @Test("is told the current value at once, then all, before those who listen")
  func order() async throws {
    let bench = try await Bench(Signal())
    let told = Record<String>()
    try await bench.do { _, store in
      try store.send("a")
      _ = store.listen { told.add("heard \($0.base ?? -1) \($0.revision)") }
      let server = Server(told)
      store.serve(server)
      try store.send("b")
      withExtendedLifetime(server) {}
    }
    #expect(
      told.all == [
        "heard -1 1", "served -1 1", "served 1 2", "heard 1 2", #"served {"last":"b"}"#,
      ])
  }

  @Test("gets no patches where it needs none, unless somebody listens")
  func patches() async throws {
    let bench = try await Bench(Signal())
    let told = Record<String>()
    try await bench.do { _, store in
      let server = Server(told)
      server.needsPatches = false
      store.serve(server)
      try store.send("a")
      server.needsPatches = true
      try store.send("b")
      server.needsPatches = false
      let id = store.listen { publication in
        told.add("heard " + (publication.patch.map { String(decoding: $0, as: UTF8.self) } ?? "-"))
      }
      try store.send("c")
      store.stopListening(id)
      try store.send("d")
      withExtendedLifetime(server) {}
    }
    #expect(
      told.all.filter { !$0.contains("last") || $0.contains("heard") } == [
        "served -1 0", "served 0 1", "served 1 2", "heard -", "served 2 3",
        #"heard [{"op":"replace","path":"/count","value":3}]"#, "served 3 4",
      ])
  }

  @Test("may let others listen while it is told: they get what is now, and what comes later")
  func listenersFromInside() async throws {
    let bench = try await Bench(Signal())
    let told = Record<String>()
    try await bench.do { _, store in
      let server = Server(told)
      server.whenPublished = { base in
        guard base == 0 else { return }
        _ = store.listen { told.add("heard \($0.base ?? -1) \($0.revision)") }
      }
      server.whenHappened = {
        server.whenHappened = nil
        _ = store.listenToEvents { told.add("heard \(String(decoding: $0, as: UTF8.self))") }
      }
      store.serve(server)
      try store.send("a")
      try store.send("b")
      withExtendedLifetime(server) {}
    }
    #expect(
      told.all == [
        "served -1 0", "served 0 1", "heard -1 1", #"served {"last":"a"}"#, "served 1 2",
        "heard 1 2", #"served {"last":"b"}"#, #"heard {"last":"b"}"#,
      ])
  }

  @Test("what ends with a listener may stop another one")
  func ends() async throws {
    final class End {
      let body: () -> Void
      init(_ body: @escaping () -> Void) { self.body = body }
      deinit { body() }
    }
    let bench = try await Bench(Signal())
    let told = Record<String>()
    try await bench.do { _, store in
      let other = store.listen { told.add("other \($0.revision)") }
      func listen() -> ListenerID {
        let end = End { store.stopListening(other) }
        return store.listen { publication in
          withExtendedLifetime(end) { told.add("one \(publication.revision)") }
        }
      }
      let id = listen()
      store.stopListening(id)
      try store.send("a")
    }
    #expect(told.all == ["other 0", "one 0"])
  }

  @Test("is told nothing of a closed store, and may be gone then")
  func closed() async throws {
    let bench = try await Bench(Signal())
    let told = Record<String>()
    await bench.do { _, store in
      do {
        let server = Server(told)
        store.serve(server)
        store.close()
        withExtendedLifetime(server) {}
      }
      #expect(throws: StoreError.closed) { try store.send("a") }
    }
    #expect(told.all == ["served -1 0"])
  }
}

/// Counts what it is sent, and tells of each.
private struct Signal: StateMachine {
  struct Event: Codable, Sendable { var last: String }
  let initialState = 0
  func effect(of input: String, in state: Int) -> Effect<String> { .action(input) }
  func reduce(_ state: inout Int, _ action: String) { state += 1 }
  func view(of state: Int) -> [String: Int] { ["count": state] }
  func event(of action: String, in state: Int) -> Event? { Event(last: action) }
}
