// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores

/// A named list in a database, for one store.
///
/// - Order of changes: `getTodos` sends the list once, then every change by any process in commit
///   order, without gaps or repetitions. It sends the whole list again after missed changes that
///   the log no longer has.
/// - Order of operations: the order in which the stores of this process began them.
/// - Responses: an operation ends after the feed of the same store, if there is one, has sent the
///   change, or, if nothing changed, the version that the operation saw.
/// - Limits: of the list and of the database, counted over all processes. An operation that exceeds
///   a limit is rolled back, and its input is refused.
/// - Failure: the operation sends `failed`, and the reason is reported to the operator. A failed
///   feed ends; the next `getTodos` begins a new one.
/// - Cancellation: an operation that is cancelled before its transaction writes nothing. An
///   operation that is cancelled later is either carried out completely or not at all.
/// - Exactly once: an operation of a session that survives the process is carried out once, even if
///   the process was killed before it recorded the result and the operation runs again.
public final class StoredTodoRepository: TodoRepository {
  private let storage: any TodoListStorage
  private let list: ByteString
  private let position = FeedPosition()
  private let handover = FeedHandover()

  /// Creates the repository of one store.
  ///
  /// - Parameters:
  ///   - storage: The database.
  ///   - list: The name of the list.
  public init(_ storage: any TodoListStorage, list: String) {
    self.storage = storage
    self.list = ByteString(list)
  }

  /// Returns an effect that sends the list and then its changes; see `TodoRepository`.
  public func getTodos(_ held: TodoList) -> Effect<TodoResult> {
    let number = position.issue()
    return .run("getTodos") { [self] context in
      defer { position.end(number) }
      // The listener is added before the list is read, so that no change is missed in between.
      let (listener, notifications) = storage.listeners.listen(to: list)
      defer { storage.listeners.stop(listener, to: list) }
      var feed = TodoFeed(storage, list: list, handover)
      do {
        try await feed.run(notifications, to: context) { position.reached($0, by: number) }
      } catch {
        if error is CancellationError { return }
        await context.send(.failed)
      }
    }
    // An operation that the store begins later must find this feed, even before its task runs.
    .onBegin { [position] in position.begin(number) }
    .refreshing("todos")
  }

  /// Returns an effect that carries out one operation; see `TodoRepository`.
  public func perform(_ operation: TodoOperation, on held: TodoList) -> Effect<TodoResult> {
    .identified { [self] id in
      let place = OperationPlace(in: storage.line)
      return .run(operation.name) { [self] context in
        defer { place.leave() }
        do {
          switch try await storage.perform(operation, on: list, once: id, at: place) {
          case .success(let version):
            await position.wait(for: version)
            await context.send(.done)
          case .failure(let error):
            await context.refuse(error.refusal, otherwise: .failed)
            await context.send(.refused)
          }
        } catch {
          if error is CancellationError { return }
          await context.send(.failed)
        }
      }
      .onBegin { place.take() }
    }
  }

  /// Returns the refusal of an operation that exceeds the limits of the list in the store's state;
  /// nil if the store has no feed.
  ///
  /// The transaction checks the current size of the list and of the database.
  public func refusal(of operation: TodoOperation, on held: TodoList) -> InputRefusal? {
    guard position.hasFeed else { return nil }
    let added = operation.added(to: held, idBytes: 0)
    return storage.limits.refusal(of: held.size + added, adding: added, in: .list)
  }
}
