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

/// A list as somebody has read it.
struct ReadList: Sendable {
  let version: ListVersion
  let list: TodoList
}

/// Who in this process listens to which list, and what the list was when one of them last read it.
///
/// Each listener has a queue of 64 news. When it is full the oldest ones go: a listener that
/// meets a version that does not follow on its own reads what it has missed from the database,
/// and the newest news, which is always kept, tells it to.
///
/// A list that was read is kept for the next one that wants it, as long as anybody listens: thousands
/// of stores may show one long list, and share what they have not changed each for itself.
final class ListListeners: Sendable {
  typealias News = AsyncStream<ListNews>

  private struct Listened {
    var queues: [Int: News.Continuation] = [:]
    var read: ReadList?
  }

  private struct State {
    var lists: [ByteString: Listened] = [:]
    var last = 0
    var isClosed = false
    var beginnings: AsyncStream<Void>.Continuation?
  }

  private let state = Lock(State())
  private let usefulLag: ListVersion

  /// - Parameter logLength: How many changes of a list are kept. One that was read before those is of no
  ///   use, and not kept either.
  init(logLength: Int = 1000) { usefulLag = ListVersion(logLength) }

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
        state.lists[list, default: Listened()].queues[state.last] = queue
        state.beginnings?.yield()
      }
      return state.last
    }
    return (id, news)
  }

  /// Listens no more.
  func stop(_ id: Int, to list: ByteString) {
    // What was read may be large; it is let go of outside of the lock.
    let forgotten = state.withLock { state -> Listened? in
      state.lists[list]?.queues[id] = nil
      return state.lists[list]?.queues.isEmpty == true
        ? state.lists.removeValue(forKey: list) : nil
    }
    withExtendedLifetime(forgotten) {}
  }

  /// Tells all listeners of a list, in the order in which they began to listen.
  func tell(_ list: ByteString, _ news: ListNews) {
    let (queues, _) = state.withLock { state -> ([Int: News.Continuation], forgotten: ReadList?) in
      guard let listened = state.lists[list] else { return ([:], nil) }
      guard let read = listened.read, news.version - read.version > usefulLag else {
        return (listened.queues, nil)
      }
      state.lists[list]?.read = nil
      return (listened.queues, read)
    }
    for (_, queue) in queues.sorted(by: { $0.key < $1.key }) { queue.yield(news) }
  }

  /// The lists that somebody listens to.
  var lists: [ByteString] { state.withLock { Array($0.lists.keys) } }

  /// Whether somebody listens to anything.
  var areThere: Bool { state.withLock { !$0.lists.isEmpty } }

  /// Says when somebody begins to listen, at once if somebody does already; ends on closing.
  func beginnings() -> AsyncStream<Void> {
    let (beginnings, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    state.withLock { state in
      state.beginnings = continuation
      if state.isClosed { continuation.finish() }
      if !state.lists.isEmpty { continuation.yield() }
    }
    return beginnings
  }

  /// Ends the news of all, for good.
  func close() {
    let (lists, beginnings) = state.withLock { state in
      defer {
        state.lists = [:]
        state.isClosed = true
      }
      return (state.lists, state.beginnings)
    }
    for list in lists.values { for queue in list.queues.values { queue.finish() } }
    beginnings?.finish()
  }
}

// MARK: - What was read

extension ListListeners {
  /// What a list was when it was last read; nil where nobody listens, or has read it.
  func lastRead(_ list: ByteString) -> ReadList? { state.withLock { $0.lists[list]?.read } }

  /// Takes note of what a list was when it was read just now.
  /// - Returns: The same, in the memory of who has read it at that version before.
  func share(_ read: ReadList, of list: ByteString) -> ReadList {
    // What it replaces is let go of outside the lock.
    let (shared, _) = state.withLock { state -> (ReadList, ReadList?) in
      let known = state.lists[list]?.read
      if let known, known.version == read.version { return (known, nil) }
      // Also in the place of a newer one: the file may have been put back to what it was before. Where it has come
      // to the same version again since, nobody sees that.
      state.lists[list]?.read = read
      return (read, known)
    }
    return shared
  }
}
