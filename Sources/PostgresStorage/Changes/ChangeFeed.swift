// SPDX-License-Identifier: Apache-2.0

internal import PostgresConnections
internal import StateMachines

/// The changes of other nodes, and the reads of this one.
///
/// A node that has committed changes notifies the others, at most once in 10 ms, because each
/// notification takes a lock of the whole database at its commit. A notified node reads what has
/// changed in all lists and tables that have listeners here, in one transaction, and passes it on to
/// all of them. Without a notification it does so every second, because one may be lost with a
/// connection.
final class ChangeFeed: Sendable {
  /// A kind of data with changes.
  protocol Source: AnyObject, Sendable {
    /// True while anything of the kind has a listener.
    var hasListeners: Bool { get }
    /// A stream with an element after a listener was added.
    func additions() -> AsyncStream<Void>
    /// Returns the transaction that reads what has changed, and passes it on; nil without listeners.
    func reading() -> (statement: PostgresStatement, parameters: [PostgresParameter])?
    /// Passes on what was read.
    func take(_ rows: PostgresRows)
  }

  private struct State {
    var sources: [any Source] = []
    var isChecking = false
    var checksAgain = false
    var lastNotification: ContinuousClock.Instant?
    var isNotifying = false
  }

  static var pollInterval: Duration { .seconds(1) }
  private static var notificationInterval: Duration { .milliseconds(10) }

  let connection: PostgresConnection
  private let patience: Duration
  private let clock: any Clock<Duration>
  private let state: Lock<State>

  init(
    _ database: PostgresAddress, application: String, _ options: PostgresStorage.Options,
    clock: any Clock<Duration>
  ) {
    let state = Lock(State())
    let opened = Lock(Opened())
    (self.state, self.clock, patience) = (state, clock, options.patience)
    connection = PostgresConnection(
      database, application: application, statementTimeout: options.statementTimeout,
      setup: (PostgresTransaction(Self.listen), { _ in })
    ) { change in
      switch change {
      // Notifications may have been lost with the former connection.
      case .connected, .notified: opened.withLock { $0.feed }?.check()
      case .failed: break
      }
    }
    opened.withLock { $0.feed = self }
  }

  /// The object of a connection, which begins before the object exists.
  private struct Opened {
    weak var feed: ChangeFeed?
  }

  func add(_ sources: [any Source]) { state.withLock { $0.sources += sources } }

  func close() { connection.closeAndWait() }

  // MARK: Changes of other nodes

  /// Polls while there are listeners, until the task is cancelled or the listeners are closed.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      for source in state.withLock({ $0.sources }) {
        group.addTask { [self] in
          for await _ in source.additions() {
            while source.hasListeners {
              do { try await clock.sleep(for: Self.pollInterval) } catch { return }
              check()
            }
          }
        }
      }
    }
  }

  /// Reads what has changed, and passes it on.
  func check() {
    let sources = state.withLock { state -> [any Source] in
      if state.isChecking {
        state.checksAgain = true
        return []
      }
      state.isChecking = true
      return state.sources
    }
    if !sources.isEmpty { check(sources) }
  }

  private func check(_ sources: [any Source]) {
    var transaction = PostgresTransaction()
    var read: [any Source] = []
    for source in sources {
      guard let (statement, parameters) = source.reading() else { continue }
      transaction.append(statement, parameters)
      read.append(source)
    }
    guard !read.isEmpty else { return checked() }
    let taking = read
    connection.execute(transaction, by: .now + patience) { [weak self] result in
      // After a failure the next poll, or the next connection, reads the same.
      if case .success(let rows) = result {
        for (source, rows) in zip(taking, rows) { source.take(rows) }
      }
      self?.checked()
    }
  }

  private func checked() {
    let again = state.withLock { state in
      defer { state.checksAgain = false }
      state.isChecking = state.checksAgain
      return state.checksAgain ? state.sources : []
    }
    if !again.isEmpty { check(again) }
  }

  // MARK: Changes of this node

  /// Notifies the other nodes of committed changes.
  func announce() {
    let delay = state.withLock { state -> Duration? in
      if state.isNotifying { return nil }
      state.isNotifying = true
      guard let last = state.lastNotification else { return .zero }
      return max(.zero, Self.notificationInterval - (.now - last))
    }
    guard let delay else { return }
    if delay == .zero {
      notify()
    } else {
      connection.after(delay) { [weak self] in self?.notify() }
    }
  }

  private func notify() {
    state.withLock { state in
      state.isNotifying = false
      state.lastNotification = .now
    }
    connection.execute(PostgresTransaction(Self.notifying), by: .now + patience) { _ in }
  }

  // MARK: Reads

  /// Executes a transaction that only reads; again if the connection is lost.
  ///
  /// - Parameter isPatient: True to wait for a database that does not respond without a limit.
  /// - Throws: A `PostgresError` or a `CancellationError`.
  func read(_ transaction: PostgresTransaction, isPatient: Bool) async throws -> [PostgresRows] {
    let deadline = isPatient ? nil : ContinuousClock.now + patience
    while true {
      let result = AwaitedResult<[PostgresRows]>()
      connection.execute(transaction, by: deadline) { result.end($0.mapError { $0 }) }
      do {
        return try await result.wait()
      } catch let error as PostgresError {
        if error.leavesOutcomeOpen || error.isConflict { continue }
        guard isPatient, error.isTransient, error.outcome == .refused else { throw error }
        try await clock.sleep(for: Self.pollInterval)
      }
    }
  }

  private static let listen = PostgresStatement("listen", "LISTEN statewire_changes")
  private static let notifying = PostgresStatement("notify", "NOTIFY statewire_changes")
}
