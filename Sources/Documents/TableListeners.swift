// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import VersionedList

/// The listeners of each table in this process, for implementations of `DocumentStorage`.
///
/// Each listener has a queue of 64 notices. A full queue drops the oldest one: a watch that sees a
/// gap reads what it has missed.
public final class TableListeners: Sendable {
  private struct State {
    var queues: [ByteString: [Int: AsyncStream<TableNotice>.Continuation]] = [:]
    var last = 0
    var isClosed = false
    var additions: AsyncStream<Void>.Continuation?
  }

  private let state = Lock(State())

  /// Creates an object without listeners.
  public init() {}

  /// Returns the notices of a table from now on. They end when the listeners are closed; immediately
  /// if they are closed already.
  public func notices(of table: String) -> AsyncStream<TableNotice> {
    let table = ByteString(table)
    let (notices, queue) = AsyncStream.makeStream(
      of: TableNotice.self, bufferingPolicy: .bufferingNewest(64))
    let number = state.withLock { state in
      state.last += 1
      if state.isClosed {
        queue.finish()
      } else {
        state.queues[table, default: [:]][state.last] = queue
        state.additions?.yield()
      }
      return state.last
    }
    queue.onTermination = { [weak self] _ in self?.remove(number, of: table) }
    return notices
  }

  private func remove(_ number: Int, of table: ByteString) {
    state.withLock { state in
      state.queues[table]?[number] = nil
      if state.queues[table]?.isEmpty == true { state.queues[table] = nil }
    }
  }

  /// Notifies all listeners of a table, in the order in which they were added.
  public func notify(_ table: String, _ notice: TableNotice) {
    let queues = state.withLock { $0.queues[ByteString(table)] ?? [:] }
    for (_, queue) in queues.sorted(by: { $0.key < $1.key }) { queue.yield(notice) }
  }

  /// The tables that have listeners.
  public var tables: [String] { state.withLock { $0.queues.keys.map(\.string) } }

  /// True while no table has a listener.
  public var isEmpty: Bool { state.withLock { $0.queues.isEmpty } }

  /// Returns a stream with an element after a listener was added, and immediately if there is a
  /// listener; `close()` ends it.
  public func additions() -> AsyncStream<Void> {
    let (additions, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    state.withLock { state in
      state.additions = continuation
      if state.isClosed { continuation.finish() }
      if !state.queues.isEmpty { continuation.yield() }
    }
    return additions
  }

  /// Ends the notices of all listeners permanently.
  public func close() {
    let (queues, additions) = state.withLock { state in
      defer {
        state.queues = [:]
        state.isClosed = true
      }
      return (state.queues, state.additions)
    }
    for queues in queues.values { for queue in queues.values { queue.finish() } }
    additions?.finish()
  }
}
