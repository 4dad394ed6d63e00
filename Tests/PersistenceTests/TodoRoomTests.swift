// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import Dispatch
import Sessions
import StatewireJSON
import StatewireProtocol
import Testing

@testable import Persistence

/// Lists in memory, of which a stranger could open a thousand, each with a hundred thousand todos.
@Suite("Room for todos in memory", .timeLimit(.minutes(5)))
struct TodoRoomTests {
  private func memory(_ count: Int) -> JSONValue {
    ["memory": ["count": .number(JSONNumber(count))]]
  }

  /// What the frontend is told: the limit and where, or nil.
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

  private func send(_ input: String, to attachment: Sessions.Attachment) throws(SessionError) {
    let bytes = Array(input.utf8)
    try bytes.span.withUnsafeBytes { text throws(SessionError) in
      var reader = JSONReader(text)
      _ = try attachment.send(reading: &reader, request: nil)
    }
  }

  @Test("is a session's and the server's, and comes back with what goes")
  func room() async throws {
    try await withFolder { folder in
      var limits = TodoLimits()
      limits.todosPerSession = 10
      limits.todos = 15
      try await check(
        Shard(
          executor: Loop(), kinds: StoreKind.builtin(EmbeddedDatabase(folder), todoLimits: limits)))
    }
  }

  private func check(_ shard: isolated Shard) throws {
    let (one, other) = (Session(isolation: shard), Session(isolation: shard))
    let frontend = Deaf()
    func open(_ name: String, _ count: Int, in session: Session) -> String? {
      refusal { () throws(SessionError) in
        _ = try session.open(name, kind: "todo", configuration: memory(count), isolation: shard)
      }
    }
    #expect(open("a", 11, in: one) == "todosPerSession /memory/count")
    #expect(open("a", 6, in: one) == nil)
    #expect(open("b", 5, in: one) == "todosPerSession /memory/count")
    #expect(open("b", 3, in: one) == nil)
    let attachment = try one.attach(frontend, to: "b", isolation: shard)
    func input(_ text: String) -> String? {
      refusal { () throws(SessionError) in try send(text, to: attachment) }
    }
    let add = #"{"type":"todoAdded","title":"x"}"#
    #expect(input(add) == nil)
    #expect(input(add) == "todosPerSession ")
    // An id that the list has takes up nothing, so that sending again is harmless.
    #expect(input(#"{"type":"todoAdded","title":"x","id":"1"}"#) == nil)
    // All else goes on, and nothing is lost.
    #expect(input(#"{"type":"todoRenamed","id":"4","title":"y"}"#) == nil)
    #expect(input(#"{"type":"todoRemoved","id":"9"}"#) == nil)
    #expect(input(add) == "todosPerSession ")
    #expect(input(#"{"type":"todoRemoved","id":"1"}"#) == nil)
    #expect(input(add) == nil)
    // Another session notices nothing, as long as the server has room.
    #expect(open("a", 5, in: other) == nil)
    #expect(open("b", 1, in: other) == "todos /memory/count")
    // A list that is closed is gone, though its name is not.
    try one.close("a", isolation: shard)
    #expect(open("a", 6, in: one) == nil)
    try one.close("a", isolation: shard)
    #expect(open("b", 5, in: other) == nil)
    one.end(isolation: shard)
    #expect(open("c", 1, in: other) == "todosPerSession /memory/count")
    other.end(isolation: shard)
  }
}

/// The event loop of a shard.
private final class Loop: SerialExecutor {
  private let queue = DispatchQueue(label: "shard")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
