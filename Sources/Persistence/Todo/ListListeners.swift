// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores

/// How many changes a list has had. Each change has the version that it leads to.
///
/// - Units: changes since the list was made, which is version 0.
typealias ListVersion = Int64

/// What a listener is told of its list.
struct ListNews: Sendable {
  /// There is this version, committed.
  let version: ListVersion
  /// The change that leads to it; nil where only the version is known.
  var change: TodoChange?
}

/// Who in this process listens to which list.
///
/// Each listener has a queue of 64 news. When it is full the oldest ones go: a listener that
/// meets a version that does not follow on its own reads what it has missed from the database,
/// and the newest news, which is always kept, tells it to.
final class ListListeners: Sendable {
  typealias News = AsyncStream<ListNews>

  private struct State {
    var queues: [ByteString: [Int: News.Continuation]] = [:]
    var last = 0
    var isClosed = false
    var beginnings: AsyncStream<Void>.Continuation?
  }

  private let state = Lock(State())

  /// Begins to listen; the news end when listeners are closed, at once if they are.
  ///
  /// - Returns: The name to stop it by, and the news from now on.
  func listen(to list: ByteString) -> (id: Int, news: News) {
    let (news, queue) = News.makeStream(bufferingPolicy: .bufferingNewest(64))
    let id = state.withLock { state in
      state.last += 1
      if state.isClosed {
        queue.finish()
      } else {
        state.queues[list, default: [:]][state.last] = queue
        state.beginnings?.yield()
      }
      return state.last
    }
    return (id, news)
  }

  /// Listens no more.
  func stop(_ id: Int, to list: ByteString) {
    state.withLock { state in
      state.queues[list]?[id] = nil
      if state.queues[list]?.isEmpty == true { state.queues[list] = nil }
    }
  }

  /// Tells all listeners of a list, in the order in which they began to listen.
  func tell(_ list: ByteString, _ news: ListNews) {
    let queues = state.withLock { $0.queues[list] ?? [:] }
    for (_, queue) in queues.sorted(by: { $0.key < $1.key }) { queue.yield(news) }
  }

  /// The lists that somebody listens to.
  var lists: [ByteString] { state.withLock { Array($0.queues.keys) } }

  /// Whether somebody listens to anything.
  var areThere: Bool { state.withLock { !$0.queues.isEmpty } }

  /// Says when somebody begins to listen, at once if somebody does already; ends on closing.
  func beginnings() -> AsyncStream<Void> {
    let (beginnings, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    state.withLock { state in
      state.beginnings = continuation
      if state.isClosed { continuation.finish() }
      if !state.queues.isEmpty { continuation.yield() }
    }
    return beginnings
  }

  /// Ends the news of all, for good.
  func close() {
    let (queues, beginnings) = state.withLock { state in
      defer {
        state.queues = [:]
        state.isClosed = true
      }
      return (state.queues.values.flatMap(\.values), state.beginnings)
    }
    for queue in queues { queue.finish() }
    beginnings?.finish()
  }
}
