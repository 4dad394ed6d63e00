// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The thread of a connection: connects, sends what is requested, and receives results.
///
/// It alone uses the connection. It blocks in `poll`, and while it connects.
final class ConnectionLoop {
  private let queue: ConnectionQueue
  private let address: PostgresAddress
  private let application: String
  private let statementTimeout: Duration
  private let setup: (transaction: PostgresTransaction, ended: PostgresConnection.Ended)?
  private let changed: @Sendable (PostgresConnection.Change) -> Void

  private var session: PostgresSession?
  /// The transactions that were not sent, because there is no connection.
  private var waiting: [Job] = []
  private var timers: [(time: ContinuousClock.Instant, body: @Sendable () -> Void)] = []
  private var nextAttempt = ContinuousClock.now
  private var delay = ConnectionLoop.shortestDelay
  /// The failure that was reported last; nil after a success.
  private var reported: String?

  private static var shortestDelay: Duration { .milliseconds(50) }
  private static var longestDelay: Duration { .seconds(1) }

  init(
    _ queue: ConnectionQueue, _ address: PostgresAddress, application: String,
    statementTimeout: Duration,
    setup: (transaction: PostgresTransaction, ended: PostgresConnection.Ended)?,
    changed: @escaping @Sendable (PostgresConnection.Change) -> Void
  ) {
    self.queue = queue
    self.address = address
    self.application = application
    self.statementTimeout = statementTimeout
    self.setup = setup
    self.changed = changed
  }

  func run() {
    while true {
      let (requests, isClosed) = queue.take()
      for request in requests {
        switch request {
        case .execute(let job): waiting.append(job)
        case .timer(let time, let body): timers.append((time, body))
        }
      }
      if isClosed { return end() }
      runTimers()
      if session == nil, ContinuousClock.now >= nextAttempt { connect() }
      sendWaiting()
      refuseLate()
      wait()
      receive()
    }
  }

  private func end() {
    session?.end(PostgresError(.unknown, "the connection to the database was closed"))
    session = nil
    for job in waiting { job.ended(.failure(.closed)) }
    waiting = []
    // The ends of transactions may have added others.
    while let requests = queue.takeLast() {
      for case .execute(let job) in requests { job.ended(.failure(.closed)) }
    }
  }

  // MARK: Connecting

  private func connect() {
    do {
      let session = try PostgresSession(address, application: application)
      var first = PostgresTransaction()
      first.append(Self.settings, .integer(statementTimeout.milliseconds))
      session.send(Job(transaction: first, deadline: nil, losses: nil, ended: { _ in }))
      if let setup {
        session.send(
          Job(transaction: setup.transaction, deadline: nil, losses: nil, ended: setup.ended))
      }
      self.session = session
      delay = Self.shortestDelay
      reported = nil
      changed(.connected)
    } catch {
      postpone(error)
    }
  }

  private func postpone(_ error: PostgresError) {
    nextAttempt = .now + delay
    delay = min(delay * 2, Self.longestDelay)
    guard reported != error.message else { return }
    reported = error.message
    changed(.failed(error))
  }

  /// A server whose client has disappeared ends the connection within about 10 s as well, so that
  /// its locks do not remain. Statements find rows by their keys, also while the statistics of a
  /// table that has grown quickly say that reading all of it is faster.
  private static let settings = PostgresStatement(
    "settings",
    """
    SELECT set_config('statement_timeout', ($1::bigint)::text, false),
      set_config('idle_in_transaction_session_timeout', '10000', false),
      set_config('tcp_keepalives_idle', '5', false),
      set_config('tcp_keepalives_interval', '2', false),
      set_config('tcp_keepalives_count', '3', false),
      set_config('enable_seqscan', 'off', false), set_config('enable_hashjoin', 'off', false),
      set_config('enable_mergejoin', 'off', false), set_config('jit', 'off', false)
    """)

  // MARK: Transactions

  private func sendWaiting() {
    guard let session, !waiting.isEmpty else { return }
    let (jobs, losses) = (waiting, queue.losses)
    waiting = []
    for job in jobs {
      if let expected = job.losses, expected != losses {
        job.ended(.failure(.afterLoss))
      } else {
        session.send(job)
      }
    }
  }

  private func refuseLate() {
    guard session == nil, !waiting.isEmpty else { return }
    let now = ContinuousClock.now
    let late = waiting.filter { $0.deadline.map { $0 <= now } ?? false }
    guard !late.isEmpty else { return }
    waiting.removeAll { $0.deadline.map { $0 <= now } ?? false }
    let reason = reported.map { ": \($0)" } ?? ""
    for job in late {
      job.ended(.failure(PostgresError(.notSent, "the database cannot be reached\(reason)")))
    }
  }

  private func receive() {
    guard let session else { return }
    let error = session.receive()
    if session.takeNotifications() { changed(.notified) }
    guard let error else { return }
    self.session = nil
    // Before the ends, which may pass transactions again that were in progress.
    queue.noteLoss()
    session.end(error)
    postpone(error)
  }

  private func runTimers() {
    guard !timers.isEmpty else { return }
    let now = ContinuousClock.now
    let due = timers.filter { $0.time <= now }
    timers.removeAll { $0.time <= now }
    for timer in due { timer.body() }
  }

  /// Waits for a request, for the socket, and for the next time at which something is due.
  private func wait() {
    var next = timers.map(\.time).min()
    func consider(_ time: ContinuousClock.Instant?) {
      if let time, next.map({ time < $0 }) ?? true { next = time }
    }
    if session == nil {
      consider(nextAttempt)
      for job in waiting { consider(job.deadline) }
    }
    var files = [pollfd(fd: queue.signal, events: Int16(POLLIN), revents: 0)]
    if let session {
      let events = session.hasUnsentBytes ? POLLIN | POLLOUT : POLLIN
      files.append(pollfd(fd: session.socket, events: Int16(events), revents: 0))
    }
    // Rounded up, so that the loop does not run until the time has come.
    let timeout = next.map { max(0, ContinuousClock.now.duration(to: $0).milliseconds + 1) } ?? -1
    poll(&files, nfds_t(files.count), Int32(clamping: timeout))
  }
}

extension Duration {
  /// The number of whole milliseconds.
  var milliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}
