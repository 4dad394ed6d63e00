// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import TestSupport
import Testing

@testable import StateMachines

@Suite("Store server")
struct StoreServerTests {
  private final class Server: StoreServer {
    let record: Record<String>
    /// An extra action in `published`.
    var whenPublished: ((_ base: Revision?) -> Void)?
    var whenHappened: (() -> Void)?
    var needsPatches = true
    init(_ record: Record<String>) { self.record = record }

    func published(_ publication: borrowing Publication) {
      record.add("served \(publication.base ?? -1) \(publication.revision)")
      whenPublished?(publication.base)
    }

    func happened(_ event: UnsafeRawBufferPointer, for recipients: EventRecipients) {
      record.add("served \(String(decoding: event, as: UTF8.self))")
      whenHappened?()
    }

    func failed(_ error: JSONError) { record.add("failed \(error.pathDescription)") }
  }

  @Test("the server receives the current value immediately, and later ones before the listeners")
  func order() async throws {
    let bench = try await Bench(Signal())
    let record = Record<String>()
    try await bench.do { _, store in
      try store.send("a")
      _ = store.listen { record.add("heard \($0.base ?? -1) \($0.revision)") }
      let server = Server(record)
      store.serve(server)
      try store.send("b")
      withExtendedLifetime(server) {}
    }
    #expect(
      record.all == [
        "heard -1 1", "served -1 1", "served 1 2", "heard 1 2", #"served {"last":"b"}"#,
      ])
  }

  @Test("an event reaches the audiences before a listener, which may close the store")
  func audiences() async throws {
    let bench = try await Bench(Whisper())
    let record = Record<String>()
    try await bench.do { _, store in
      let (server, other) = (Server(record), Server(record))
      store.serve(server)
      try store.store(for: "ann").serve(other)
      _ = store.listenToEvents { [unowned store] _ in
        record.add("heard")
        store.close()
      }
      record.removeAll()
      try store.send("a")
      withExtendedLifetime((server, other)) {}
    }
    let event = #"served {"last":"a"}"#
    #expect(record.all == ["served 0 1", "served 0 1", event, event, "heard"])
  }

  @Test("a server that needs no patches gets none, unless there is a listener")
  func patches() async throws {
    let bench = try await Bench(Signal())
    let record = Record<String>()
    try await bench.do { _, store in
      let server = Server(record)
      server.needsPatches = false
      store.serve(server)
      try store.send("a")
      server.needsPatches = true
      try store.send("b")
      server.needsPatches = false
      let id = store.listen { publication in
        record.add(
          "heard " + (publication.patch.map { String(decoding: $0, as: UTF8.self) } ?? "-"))
      }
      try store.send("c")
      store.stopListening(id)
      try store.send("d")
      withExtendedLifetime(server) {}
    }
    #expect(
      record.all.filter { !$0.contains("last") || $0.contains("heard") } == [
        "served -1 0", "served 0 1", "served 1 2", "heard -", "served 2 3",
        #"heard [{"op":"replace","path":"/count","value":3}]"#, "served 3 4",
      ])
  }

  @Test("a server may add listeners in a call: they get the current value and later events")
  func listenersFromInside() async throws {
    let bench = try await Bench(Signal())
    let record = Record<String>()
    try await bench.do { _, store in
      let server = Server(record)
      server.whenPublished = { base in
        guard base == 0 else { return }
        _ = store.listen { record.add("heard \($0.base ?? -1) \($0.revision)") }
      }
      server.whenHappened = {
        server.whenHappened = nil
        _ = store.listenToEvents { record.add("heard \(String(decoding: $0, as: UTF8.self))") }
      }
      store.serve(server)
      try store.send("a")
      try store.send("b")
      withExtendedLifetime(server) {}
    }
    #expect(
      record.all == [
        "served -1 0", "served 0 1", "heard -1 1", #"served {"last":"a"}"#, "served 1 2",
        "heard 1 2", #"served {"last":"b"}"#, #"heard {"last":"b"}"#,
      ])
  }

  @Test("a listener that is released may stop another listener")
  func ends() async throws {
    final class End {
      let body: () -> Void
      init(_ body: @escaping () -> Void) { self.body = body }
      deinit { body() }
    }
    let bench = try await Bench(Signal())
    let record = Record<String>()
    try await bench.do { _, store in
      let other = store.listen { record.add("other \($0.revision)") }
      func listen() -> ListenerID {
        let end = End { store.stopListening(other) }
        return store.listen { publication in
          withExtendedLifetime(end) { record.add("one \(publication.revision)") }
        }
      }
      let id = listen()
      store.stopListening(id)
      try store.send("a")
    }
    #expect(record.all == ["other 0", "one 0"])
  }

  @Test("the server receives nothing from a closed store, and may be released by then")
  func closed() async throws {
    let bench = try await Bench(Signal())
    let record = Record<String>()
    await bench.do { _, store in
      do {
        let server = Server(record)
        store.serve(server)
        store.close()
        withExtendedLifetime(server) {}
      }
      #expect(throws: StoreError.closed) { try store.send("a") }
    }
    #expect(record.all == ["served -1 0"])
  }
}

/// A signal whose viewers are audiences.
private struct Whisper: AudienceMachine {
  let initialState = 0
  func effect(of input: String, in state: Int) -> Effect<String> { .action(input) }
  func reduce(_ state: inout Int, _ action: String) { state += 1 }
  func view(of state: Int) -> [String: Int] { ["count": state] }
  func event(of action: String, in state: Int) -> Signal.Event? { Signal.Event(last: action) }
  func audience(of viewer: Viewer) -> String { viewer.name ?? "" }
  func view(of state: Int, for name: String) -> [String: Int] { [name: state] }
}

/// Counts its inputs and publishes an event for each.
private struct Signal: StateMachine {
  struct Event: Codable, Sendable { var last: String }
  let initialState = 0
  func effect(of input: String, in state: Int) -> Effect<String> { .action(input) }
  func reduce(_ state: inout Int, _ action: String) { state += 1 }
  func view(of state: Int) -> [String: Int] { ["count": state] }
  func event(of action: String, in state: Int) -> Event? { Event(last: action) }
}
