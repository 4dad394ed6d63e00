// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import Dispatch
import EmbeddedStorage
import Sessions
import StatewireJSON
import StorageTestSupport
import TestSupport
import Testing

/// Quotas of lists in memory. Without them, an untrusted client could open a thousand lists, each
/// with a hundred thousand todos.
@Suite("Quota of todos in memory", .timeLimit(.minutes(15)))
struct TodoQuotaTests {
  private func memory(_ count: Int) -> JSONValue {
    ["memory": ["count": .number(JSONNumber(count))]]
  }

  /// Returns the limit and the path of a refusal; nil if there is none.
  private func refusal(_ body: () throws(SessionError) -> Void) -> String? {
    do throws(SessionError) {
      try body()
      return nil
    } catch {
      switch error {
      case .configuration(let error), .input(let error):
        return "\(error.code.rawValue) \(error.pathDescription)"
      default: return "\(error)"
      }
    }
  }

  private func send(_ input: String, to subscription: Sessions.Subscription) throws(SessionError) {
    let bytes = Array(input.utf8)
    try bytes.span.withUnsafeBytes { text throws(SessionError) in
      var reader = JSONReader(text)
      _ = try subscription.send(reading: &reader, request: nil)
    }
  }

  @Test("sessions and the server have quotas, and removed todos free their part")
  func quota() async throws {
    try await withFolder { folder in
      var limits = TodoLimits()
      limits.session.todos = 10
      limits.memory.todos = 15
      try await check(
        Shard(
          executor: QueueExecutor(), kinds: .builtin(EmbeddedDatabase(folder), todoLimits: limits)))
    }
  }

  private func check(_ shard: isolated Shard) throws {
    let (one, other) = (Session(isolation: shard), Session(isolation: shard))
    let frontend = SilentClient()
    func open(_ name: String, _ count: Int, in session: Session) -> String? {
      refusal { () throws(SessionError) in
        _ = try session.open(name, kind: "todo", configuration: memory(count), isolation: shard)
      }
    }
    #expect(open("a", 11, in: one) == "todosPerSession /memory/count")
    #expect(open("a", 6, in: one) == nil)
    #expect(open("b", 5, in: one) == "todosPerSession /memory/count")
    #expect(open("b", 3, in: one) == nil)
    let subscription = try one.attach(frontend.id(on: shard), to: "b", isolation: shard)
    func input(_ text: String) -> String? {
      refusal { () throws(SessionError) in try send(text, to: subscription) }
    }
    let add = #"{"type":"todoAdded","title":"x"}"#
    #expect(input(add) == nil)
    #expect(input(add) == "todosPerSession ")
    // An existing id takes no space, so sending the same input again is harmless.
    #expect(input(#"{"type":"todoAdded","title":"x","id":"1"}"#) == nil)
    // Other inputs are accepted, and nothing is lost.
    #expect(input(#"{"type":"todoRenamed","id":"4","title":"y"}"#) == nil)
    #expect(input(#"{"type":"todoRemoved","id":"9"}"#) == nil)
    #expect(input(add) == "todosPerSession ")
    #expect(input(#"{"type":"todoRemoved","id":"1"}"#) == nil)
    #expect(input(add) == nil)
    // Another session is not affected while the server's quota has space.
    #expect(open("a", 5, in: other) == nil)
    #expect(open("b", 1, in: other) == "todos /memory/count")
    // The contents of a closed list are released, although its name is not.
    try one.close("a", isolation: shard)
    #expect(open("a", 6, in: one) == nil)
    try one.close("a", isolation: shard)
    #expect(open("b", 5, in: other) == nil)
    one.end(isolation: shard)
    #expect(open("c", 1, in: other) == "todosPerSession /memory/count")
    other.end(isolation: shard)
  }
}

@Suite("Quota of bytes in memory")
struct TodoByteQuotaTests {
  private func limits(_ body: (inout TodoLimits) -> Void) -> TodoQuota {
    var limits = TodoLimits()
    body(&limits)
    return TodoQuota(limits)
  }

  /// Performs operations on a list, and returns its size in bytes after each, or the limit that
  /// refuses the operation.
  private func play(_ operations: [TodoOperation], in quota: TodoQuota) -> [String] {
    var list = TodoList()
    let repository = MemoryTodoRepository(in: quota)
    return operations.map { operation in
      if let refusal = repository.refusal(of: operation, on: list) { return refusal.code.limit }
      switch repository.result(of: operation, on: list) {
      case .changed(let change): list.apply(change)
      case .made(let title, let id): list.make(title: title, id: id)
      default: break
      }
      return "\(list.size.bytes)"
    }
  }

  private static let long = String(repeating: "x", count: 80)

  @Test("an add or a rename that makes a list too large is refused")
  func list() {
    let quota = limits { $0.list.bytes = 150 }
    #expect(
      play(
        [
          .add(title: "a", id: "1"), .rename(id: "1", title: Self.long),
          .add(title: Self.long, id: "2"), .add(title: "b", id: "2"),
          .rename(id: "2", title: Self.long), .rename(id: "1", title: Self.long + "yyyy"),
          .rename(id: "unknown", title: Self.long + Self.long), .rename(id: "1", title: "a"),
          .rename(id: "2", title: Self.long), .remove(id: "1"),
        ], in: quota)
        == [
          "18", "97", "todoBytesPerList", "115", "todoBytesPerList", "119", "119", "36", "115",
          "97",
        ])
  }

  @Test("the lists of a session share the session's quota")
  func session() {
    let quota = limits { $0.session.bytes = 150 }.session(of: nil)
    do {
      let list = MemoryTodoRepository(in: quota, size: TodoSize(todos: 1, bytes: 50))
      #expect(
        play([.add(title: Self.long, id: "1"), .add(title: "a", id: "2")], in: quota)
          == ["97", "todoBytesPerSession"])
      withExtendedLifetime(list) {}
    }
    #expect(
      play([.add(title: Self.long, id: "1"), .add(title: "a", id: "2")], in: quota).last == "115")
  }

  @Test("a list reserves a little of a large quota in advance, and returns it")
  func ahead() {
    let quota = limits { $0.session = TodoSize(todos: 8192, bytes: 1 << 20) }.session(of: nil)
    func free() -> Int? {
      (8180...8192).last { quota.refusal(opening: TodoSize(todos: $0)) == nil }
    }
    do {
      let repository = MemoryTodoRepository(in: quota)
      var list = TodoList()
      var seen: [Int?] = []
      for operation: TodoOperation in (1...10).map({ .add(title: "a", id: "\($0)") })
        + (1...10).map({ .remove(id: "\($0)") })
      {
        #expect(repository.refusal(of: operation, on: list) == nil)
        switch repository.result(of: operation, on: list) {
        case .changed(let change): list.apply(change)
        case .made(let title, let id): list.make(title: title, id: id)
        default: break
        }
        seen.append(free())
      }
      #expect(
        seen.map { $0.map { 8192 - $0 } }
          == [3, 3, 3, 6, 6, 6, 9, 9, 9, 12] + [12, 12, 12, 9, 9, 9, 6, 6, 6, 3])
    }
    #expect(free() == 8192)
  }

  @Test("an identity gets half of the quota, in any number of sessions")
  func identity() {
    let server = limits { $0.memory = TodoSize(todos: 100, bytes: 10_000) }
    do {
      let quotas = [server.session(of: "ann"), server.session(of: "ann")]
      let lists = quotas.map { MemoryTodoRepository(in: $0, size: TodoSize(todos: 25, bytes: 500)) }
      let one = TodoSize(todos: 1, bytes: 20)
      #expect(quotas[0].refusal(opening: one)?.code.limit == "todosPerIdentity")
      let bytes = TodoSize(bytes: 4001)
      #expect(quotas[1].refusal(opening: bytes)?.code.limit == "todoBytesPerIdentity")
      for other in ["bob", nil] {
        #expect(server.session(of: other).refusal(opening: TodoSize(todos: 50, bytes: 500)) == nil)
      }
      #expect(
        server.session(of: "bob").refusal(opening: TodoSize(todos: 51, bytes: 500))?.code.limit
          == "todosPerIdentity")
      #expect(
        server.session(of: nil).refusal(opening: TodoSize(todos: 51, bytes: 500))?.code.limit
          == "todos")
      withExtendedLifetime(lists) {}
    }
    #expect(server.session(of: "ann").refusal(opening: TodoSize(todos: 50, bytes: 500)) == nil)
  }

  @Test("the sessions of an identity share its quota, from the first store on")
  func sessions() async throws {
    try await withFolder { folder in
      var limits = TodoLimits()
      limits.memory.todos = 10
      try await check(
        Shard(
          executor: QueueExecutor(), kinds: .builtin(EmbeddedDatabase(folder), todoLimits: limits)))
    }
  }

  private func check(_ shard: isolated Shard) throws {
    func open(_ count: Int, _ owner: String?) -> (SilentClient, Participant, String?) {
      let frontend = SilentClient(owner: owner)
      let participant = frontend.join(Participant(frontend.id(on: shard), isolation: shard))
      do throws(SessionError) {
        _ = try participant.session.open(
          "a", kind: "todo", configuration: ["memory": ["count": .number(JSONNumber(count))]],
          isolation: shard)
        return (frontend, participant, nil)
      } catch {
        if case .configuration(let error) = error {
          return (frontend, participant, error.code.rawValue)
        }
        return (frontend, participant, "\(error)")
      }
    }
    let first = open(5, "ann")
    #expect(first.2 == nil)
    #expect(open(1, "ann").2 == "todosPerIdentity")
    let other = open(5, "bob")
    #expect(other.2 == nil)
    #expect(open(1, nil).2 == "todos")
    for (_, participant, _) in [first, other] { participant.session.end(isolation: shard) }
  }
}

extension InputRefusal.Code {
  /// The name of the limit that is exceeded; "value" for another refusal.
  fileprivate var limit: String { if case .limit(let name) = self { name } else { "value" } }
}
