// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A connection to PostgreSQL with a thread of its own.
///
/// Transactions are pipelined: each is sent without waiting for the end of the one before, and they
/// are executed and end in the order in which they were sent. No caller ever waits for the database.
///
/// A lost connection is opened again, after 50 ms at first and after at most 1 s later. Transactions
/// that were in progress end with `PostgresError.Outcome.unknown`; those that were not sent wait for
/// the new connection, unless they have an order (`execute(_:by:after:ended:)`).
public final class PostgresConnection: Sendable {
  /// A change of the connection.
  public enum Change: Sendable {
    /// The connection was opened.
    case connected
    /// The connection was lost, or cannot be opened. Further failures with the same reason are not
    /// reported until it was connected again.
    case failed(PostgresError)
    /// Another session has notified a channel on which this connection listens.
    case notified
  }

  /// A closure that is called with the rows of each statement when a transaction is committed, or
  /// with its failure; on the thread of the connection, or on another one after its end. It is never
  /// called by `execute` itself, whose caller may hold a lock that the closure takes.
  public typealias Ended = @Sendable (Result<[PostgresRows], PostgresError>) -> Void

  private let queue: ConnectionQueue
  private let hasEnded = AwaitedValue<Void>()

  /// Starts a connection.
  ///
  /// - Parameters:
  ///   - address: The address of the database.
  ///   - application: The name that `pg_stat_activity` shows.
  ///   - statementTimeout: The time after which the database cancels a statement.
  ///   - setup: A transaction that is executed first in each connection, and its end; for example to
  ///     listen on a channel.
  ///   - changed: Called on the thread of the connection.
  public init(
    _ address: PostgresAddress, application: String, statementTimeout: Duration = .seconds(30),
    setup: (transaction: PostgresTransaction, ended: Ended)? = nil,
    changed: @escaping @Sendable (Change) -> Void = { _ in }
  ) {
    let queue = ConnectionQueue()
    self.queue = queue
    let hasEnded = self.hasEnded
    Thread.detachNewThread {
      ConnectionLoop(
        queue, address, application: application, statementTimeout: statementTimeout, setup: setup,
        changed: changed
      ).run()
      hasEnded.signal(())
    }
  }

  deinit { queue.close() }

  /// Executes a transaction after all earlier ones.
  ///
  /// - Parameters:
  ///   - transaction: The statements.
  ///   - deadline: If the transaction cannot be sent by this time, it ends with
  ///     `PostgresError.Outcome.notSent`; nil to wait for a connection without a limit.
  ///   - losses: The value of `losses` when the first of several transactions was passed, which are
  ///     to be carried out in their order: if a connection is lost meanwhile, those that were not
  ///     sent end with `PostgresError.afterLoss`, because those in progress have to be repeated
  ///     before them. Nil for a transaction that has no such order.
  ///   - ended: Called once.
  public func execute(
    _ transaction: PostgresTransaction, by deadline: ContinuousClock.Instant? = nil,
    after losses: Int? = nil, ended: @escaping Ended
  ) {
    queue.add(
      .execute(Job(transaction: transaction, deadline: deadline, losses: losses, ended: ended)))
  }

  /// The number of connections that were lost.
  public var losses: Int { queue.losses }

  /// Executes a transaction, and blocks until it has ended. Not to be called on the thread of the
  /// connection.
  ///
  /// - Parameters:
  ///   - transaction: The transaction.
  ///   - timeout: The time after which a transaction that cannot be sent fails.
  public func execute(
    _ transaction: PostgresTransaction, within timeout: Duration
  ) throws(PostgresError) -> [PostgresRows] {
    let ended = AwaitedValue<Result<[PostgresRows], PostgresError>>()
    execute(transaction, by: .now + timeout) { ended.signal($0) }
    return try ended.wait().get()
  }

  /// Calls `body` on the thread of the connection, when some time has passed.
  public func after(_ delay: Duration, _ body: @escaping @Sendable () -> Void) {
    queue.add(.timer(.now + delay, body))
  }

  /// Ends the connection. Transactions that have not ended fail.
  public func close() { queue.close() }

  /// Ends the connection, and blocks until its thread has ended, which takes at most as long as
  /// connecting. A process calls it before it exits: libraries of libpq remove their data at the
  /// exit, also while a thread uses them.
  public func closeAndWait() {
    queue.close()
    hasEnded.wait()
  }
}

/// A transaction and its end.
struct Job: Sendable {
  let transaction: PostgresTransaction
  let deadline: ContinuousClock.Instant?
  /// It is sent only while this is the number of lost connections; nil if it is sent in any case.
  let losses: Int?
  let ended: PostgresConnection.Ended
}

/// The requests to the thread of a connection, and a pipe that wakes the thread.
final class ConnectionQueue: @unchecked Sendable {
  // @unchecked because the variables are used only while `lock` is held.

  enum Request: Sendable {
    case execute(Job)
    case timer(ContinuousClock.Instant, @Sendable () -> Void)
  }

  private let lock = NSLock()
  private var requests: [Request] = []
  private var lost = 0
  private var isClosed = false
  /// True if no thread takes requests any more.
  private var hasEnded = false
  private let pipe: (reading: Int32, writing: Int32)

  init() {
    var ends: [Int32] = [-1, -1]
    // The process has no file descriptor left; no connection could be opened either.
    precondition(Foundation.pipe(&ends) == 0, "cannot open a pipe")
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    pipe = (ends[0], ends[1])
  }

  deinit {
    Foundation.close(pipe.reading)
    Foundation.close(pipe.writing)
  }

  /// The end of the pipe that is readable while there are requests.
  var signal: Int32 { pipe.reading }

  func add(_ request: Request) {
    let (isFirst, isLate) = lock.withLock {
      if hasEnded { return (false, true) }
      requests.append(request)
      return (requests.count == 1, false)
    }
    if isFirst { wake() }
    guard isLate, case .execute(let job) = request else { return }
    DispatchQueue.global().async { job.ended(.failure(.closed)) }
  }

  func close() {
    lock.withLock { isClosed = true }
    wake()
  }

  private func wake() {
    var byte: UInt8 = 0
    _ = write(pipe.writing, &byte, 1)
  }

  /// The number of connections that were lost.
  var losses: Int { lock.withLock { lost } }

  func noteLoss() { lock.withLock { lost += 1 } }

  /// Removes all requests.
  func take() -> (requests: [Request], isClosed: Bool) {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(pipe.reading, &bytes, bytes.count) == bytes.count {}
    return lock.withLock {
      defer { requests = [] }
      return (requests, isClosed)
    }
  }

  /// Removes all requests; nil if there are none, and then no more are taken.
  func takeLast() -> [Request]? {
    lock.withLock {
      hasEnded = requests.isEmpty
      defer { requests = [] }
      return hasEnded ? nil : requests
    }
  }
}
