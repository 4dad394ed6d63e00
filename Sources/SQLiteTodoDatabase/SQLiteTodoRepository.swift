// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
internal import GRDB
internal import SQLiteFiles

/// A named list on disk, as one store sees it; made by `TodoDatabase.repository(list:)`.
///
/// - Order: `getTodos` gives the list once, then every change of it in commit order, whoever made
///   it, without gap or repetition; the whole list again where changes have been missed.
/// - Operations are carried out in the order in which the stores of this process began them.
/// - Answers: an operation is answered after the same store's feed, if one runs, has given its
///   change. One that changes nothing is answered after that feed has given what it has seen.
/// - Limits: of the list and of the database, whichever process has added to them. An operation that exceeds one is
///   rolled back and refuses its input.
/// - Failure: what was asked for is answered with `failed`, and the database is told why. A feed
///   that fails ends; the next `getTodos` begins another.
/// - Cancellation: an operation that is cancelled before its transaction writes nothing; later
///   than that it is carried out all the same, or not at all.
/// - Once: an operation of a session that outlives the process is carried out once, even if the
///   process was killed before it could be known, and it is run again.
public final class SQLiteTodoRepository: TodoRepository {
  private let database: TodoDatabase
  private let list: ByteString
  private let position = FeedPosition()

  init(database: TodoDatabase, list: String) {
    self.database = database
    self.list = ByteString(list)
  }

  public func getTodos(_ held: TodoList) -> Effect<TodoResult> {
    let number = position.issue()
    return .run("getTodos") { [self] context in
      defer { position.end(number) }
      // Before the list is read, so that no change falls between the two.
      let (listener, news) = database.listeners.listen(to: list)
      defer { database.listeners.stop(listener, to: list) }
      var feed = TodoFeed(file: database.file, listeners: database.listeners, list: list)
      do throws(StorageError) {
        try await feed.run(news, giving: context) { position.reached($0, by: number) }
      } catch {
        guard error.code != .cancelled else { return }
        database.file.report(error, "The todo list could not be read")
        await context.send(.failed)
      }
    }
    // An operation that the store begins later must find this feed, even if the work is not there yet.
    .onBegin { [position] in position.begin(number) }
    .refreshing("todos")
  }

  public func perform(_ operation: TodoOperation, on held: TodoList) -> Effect<TodoResult> {
    .identified { [self] id in
      let place = OperationPlace(in: database.line)
      return .run(operation.name) { [self] context in
        defer { place.leave() }
        do throws(StorageError) {
          switch try await commit(operation, once: id, at: place) {
          case .success(let version):
            await position.wait(for: version)
            await context.send(.done)
          case .failure(let error):
            await context.refuse(error.refusal, otherwise: .failed)
            await context.send(.refused)
          }
        } catch {
          guard error.code != .cancelled else { return }
          database.file.report(error, "\(operation.name) could not be carried out")
          await context.send(.failed)
        }
      }
      .onBegin { place.take() }
    }
  }

  /// Refuses what exceeds the limit of the list that the store shows. How large it is in the end, and all lists together,
  /// the transaction finds out.
  public func refusal(of operation: TodoOperation, on held: TodoList) -> InputRefusal? {
    guard position.hasFeed else { return nil }
    let added = operation.added(to: held, idBytes: 0)
    return database.limits.refusal(of: held.size + added, adding: added, in: .list)
  }

  /// Makes one change, unless it was made under this id before, and tells who listens.
  ///
  /// - Parameter place: Where it stands among others; nil: nobody cares.
  /// - Returns: The version that the list has now, or why nothing has changed.
  func commit(
    _ operation: TodoOperation, once id: OperationID?, at place: OperationPlace? = nil
  ) async throws(StorageError) -> Result<ListVersion, OperationRefusal> {
    let (database, list) = (database, list)
    return try await database.file.use { open in
      await place?.wait()
      return try await open.onWriter { [files = open.files] db in
        // On the writer's queue: the next one comes behind this one.
        place?.leave()
        let transaction = TodoTransaction(
          db: db, list: list.string, logLength: database.logLength, limits: database.limits,
          makeID: database.makeID)
        let news: ListNews
        do {
          news = try db.write(checking: files) { try transaction.perform(operation, once: id) }
        } catch let error as OperationRefusal {
          return .failure(error)
        }
        // Still on the writer's queue: the news of this process come in commit order. Told also
        // where nothing has changed, since the version may be news from another process.
        database.listeners.tell(list, news)
        return .success(news.version)
      }
    }
  }
}
