// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores

/// The version of a list: the number of its changes. A change has the version that it leads to.
///
/// - Units: changes since the list was created with version 0.
public typealias ListVersion = Int64

/// A notification about a list for its listeners.
public struct ListNotification: Sendable {
  /// A committed version.
  public let version: ListVersion
  /// The change that leads to the version; nil if only the version is known.
  public var change: TodoChange?

  /// Creates a notification.
  ///
  /// - Parameters:
  ///   - version: A committed version.
  ///   - change: The change that leads to it.
  public init(version: ListVersion, change: TodoChange? = nil) {
    (self.version, self.change) = (version, change)
  }
}

/// A list with the version at which it was read.
public struct ReadList: Sendable {
  /// The version of the list.
  public let version: ListVersion
  /// The list.
  public let list: TodoList

  /// Creates a value from its parts.
  public init(version: ListVersion, list: TodoList) {
    (self.version, self.list) = (version, list)
  }
}

/// The listeners of each list in this process, and the last read content of each list.
///
/// Each listener has a queue of 64 notifications. A full queue drops the oldest one. A listener
/// that receives a version other than the next one reads the missed changes from the database; the
/// newest notification is always kept and triggers that.
///
/// The content of a list is kept while the list has a listener: thousands of stores may show the
/// same long list, and share the memory of its unchanged parts.
public final class ListListeners: Sendable {
  /// The notifications of one listener.
  public typealias Notifications = AsyncStream<ListNotification>

  private struct ListenedList {
    var queues: [Int: Notifications.Continuation] = [:]
    var read: ReadList?
  }

  private struct State {
    var lists: [ByteString: ListenedList] = [:]
    var last = 0
    var isClosed = false
    var additions: AsyncStream<Void>.Continuation?
  }

  private let state = Lock(State())
  private let maximumLag: ListVersion

  /// Creates the listeners.
  ///
  /// - Parameter logLength: The number of changes of a list that are logged. Content that is older
  ///   than the log cannot be updated, and is not kept.
  public init(logLength: Int = 1000) { maximumLag = ListVersion(logLength) }

  /// Adds a listener. Its notifications end when the listeners are closed; immediately if they are
  /// closed already.
  ///
  /// - Parameter list: The name of the list.
  /// - Returns: The id for `stop`, and the notifications from now on.
  public func listen(to list: ByteString) -> (id: Int, notifications: Notifications) {
    let (notifications, queue) = Notifications.makeStream(bufferingPolicy: .bufferingNewest(64))
    let id = state.withLock { state in
      state.last += 1
      if state.isClosed {
        queue.finish()
      } else {
        state.lists[list, default: ListenedList()].queues[state.last] = queue
        state.additions?.yield()
      }
      return state.last
    }
    return (id, notifications)
  }

  /// Removes a listener.
  ///
  /// - Parameters:
  ///   - id: The id that `listen` has returned.
  ///   - list: The name of the list.
  public func stop(_ id: Int, to list: ByteString) {
    // The content may be large; its memory is released outside the lock.
    let removed = state.withLock { state -> ListenedList? in
      state.lists[list]?.queues[id] = nil
      return state.lists[list]?.queues.isEmpty == true
        ? state.lists.removeValue(forKey: list) : nil
    }
    withExtendedLifetime(removed) {}
  }

  /// Notifies all listeners of a list in the order in which they were added.
  ///
  /// - Parameters:
  ///   - list: The name of the list.
  ///   - notification: The notification.
  public func notify(_ list: ByteString, _ notification: ListNotification) {
    let (queues, _) = state.withLock {
      state -> ([Int: Notifications.Continuation], removed: ReadList?) in
      guard let listened = state.lists[list] else { return ([:], nil) }
      guard let read = listened.read, notification.version - read.version > maximumLag else {
        return (listened.queues, nil)
      }
      state.lists[list]?.read = nil
      return (listened.queues, read)
    }
    for (_, queue) in queues.sorted(by: { $0.key < $1.key }) { queue.yield(notification) }
  }

  /// The lists that have listeners.
  public var lists: [ByteString] { state.withLock { Array($0.lists.keys) } }

  /// True while any list has a listener.
  public var hasListeners: Bool { state.withLock { !$0.lists.isEmpty } }

  /// Returns a stream with an element after a listener was added, and immediately if there is a
  /// listener; `close()` ends it.
  public func additions() -> AsyncStream<Void> {
    let (additions, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    state.withLock { state in
      state.additions = continuation
      if state.isClosed { continuation.finish() }
      if !state.lists.isEmpty { continuation.yield() }
    }
    return additions
  }

  /// Ends the notifications of all listeners permanently.
  public func close() {
    let (lists, additions) = state.withLock { state in
      defer {
        state.lists = [:]
        state.isClosed = true
      }
      return (state.lists, state.additions)
    }
    for list in lists.values { for queue in list.queues.values { queue.finish() } }
    additions?.finish()
  }
}

// MARK: - Shared content

extension ListListeners {
  /// Returns the last read content of a list; nil if the list has no listener or was not read.
  public func lastRead(_ list: ByteString) -> ReadList? { state.withLock { $0.lists[list]?.read } }

  /// Records the content of a list that was just read.
  ///
  /// - Parameters:
  ///   - read: The content.
  ///   - list: The name of the list.
  /// - Returns: The same content; if it was read at this version before, in the earlier memory.
  public func share(_ read: ReadList, of list: ByteString) -> ReadList {
    // The memory of replaced content is released outside the lock.
    let (shared, _) = state.withLock { state -> (ReadList, ReadList?) in
      let known = state.lists[list]?.read
      if let known, known.version == read.version { return (known, nil) }
      // This also replaces a newer version: the file may have been restored from a backup. If the
      // restored file has reached the same version again, the difference is not detected.
      state.lists[list]?.read = read
      return (read, known)
    }
    return shared
  }
}
