// SPDX-License-Identifier: Apache-2.0

internal import PostgresConnections
internal import StateMachines

/// The transactions of this node that write.
///
/// They are pipelined in one connection. If the connection is lost, those in progress are sent again
/// in their order, before later ones. Each has an id, so that none is carried out twice.
final class OrderedWrites: Sendable {
  typealias Ended = @Sendable (Result<[PostgresRows], PostgresError>) -> Void

  private struct Write {
    let number: UInt64
    let transaction: PostgresTransaction
    /// True if it only reads.
    let isReading: Bool
    /// The time until which it waits for the connection; nil once it may have changed something.
    var deadline: ContinuousClock.Instant?
    let ended: Ended
  }

  private struct State {
    var last: UInt64 = 0
    var inProgress = 0
    /// True from the loss of the connection until the writes in progress are sent again.
    var isInterrupted = false
    var held: [Write] = []
    var isClosed = false
  }

  private let connection: PostgresConnection
  private let patience: Duration
  private let forgetting: PostgresTransaction
  private let state = Lock(State())

  init(_ database: PostgresAddress, application: String, _ options: PostgresStorage.Options) {
    patience = options.patience
    forgetting = PostgresTransaction(
      Self.forget, .integer(Int64(options.rememberedOperations)))
    connection = PostgresConnection(
      database, application: application, statementTimeout: options.statementTimeout)
    forgetLater()
  }

  func close() {
    state.withLock { $0.isClosed = true }
    connection.closeAndWait()
  }

  /// Begins a transaction after all earlier ones.
  ///
  /// - Parameters:
  ///   - transaction: A transaction that may be repeated.
  ///   - isReading: True if it only reads, after the writes.
  ///   - ended: Called on the thread of the connection, in the order of the transactions.
  func begin(
    _ transaction: PostgresTransaction, isReading: Bool = false, ended: @escaping Ended
  ) {
    let deadline = ContinuousClock.now + patience
    let isClosed = state.withLock { state in
      if state.isClosed { return true }
      state.last += 1
      let write = Write(
        number: state.last, transaction: transaction, isReading: isReading, deadline: deadline,
        ended: ended)
      if state.isInterrupted { state.held.append(write) } else { send(write, &state) }
      return false
    }
    if isClosed { ended(.failure(.storageIsClosed)) }
  }

  /// Executes a transaction.
  ///
  /// - Throws: A `PostgresError`, or a `CancellationError`; the transaction may be committed then.
  func execute(_ transaction: PostgresTransaction) async throws -> [PostgresRows] {
    let result = AwaitedResult<[PostgresRows]>()
    begin(transaction) { result.end($0.mapError { $0 }) }
    return try await result.wait()
  }

  /// Executes a transaction for which other tasks wait as well: the cancellation of this one has no
  /// effect.
  func executeForOthers(
    _ transaction: PostgresTransaction, isReading: Bool = false
  ) async throws -> [PostgresRows] {
    try await withCheckedThrowingContinuation { continuation in
      begin(transaction, isReading: isReading) { continuation.resume(with: $0) }
    }
  }

  private func send(_ write: Write, _ state: inout State) {
    state.inProgress += 1
    connection.execute(write.transaction, by: write.deadline) { [weak self] result in
      guard let self else { return write.ended(result) }
      ended(write, result)
    }
  }

  private func ended(_ write: Write, _ result: Result<[PostgresRows], PostgresError>) {
    let over = state.withLock { state in
      state.inProgress -= 1
      var over = [(write, result)]
      if case .failure(let error) = result, !state.isClosed, error.leavesOutcomeOpen {
        over = []
        var write = write
        if !write.isReading { write.deadline = nil }
        state.held.append(write)
        state.isInterrupted = true
      }
      guard state.isInterrupted, state.inProgress == 0 else { return over }
      state.isInterrupted = false
      let held = state.held.sorted { $0.number < $1.number }
      state.held = []
      if state.isClosed { return over + held.map { ($0, .failure(.storageIsClosed)) } }
      for write in held { send(write, &state) }
      return over
    }
    for (write, result) in over { write.ended(result) }
  }

  /// The time between two removals of old ids.
  private static let forgetInterval = Duration.seconds(60)

  private func forgetLater() {
    connection.after(Self.forgetInterval) { [weak self] in
      guard let self else { return }
      connection.execute(forgetting, by: .now) { _ in }
      forgetLater()
    }
  }

  private static let forget = PostgresStatement(
    "forget operations", "SELECT statewire.forget_operations($1::bigint)")
}

extension PostgresError {
  static let storageIsClosed = PostgresError(.notSent, "the storage is closed")

  /// True if the transaction may be committed, or was ended by the end of its server.
  var leavesOutcomeOpen: Bool {
    outcome == .unknown || sqlState.map { $0.hasPrefix("57P") || $0.hasPrefix("40") } ?? false
  }

  /// True if the database or this connection may not write.
  var isReadOnly: Bool {
    // libpq rejects a server that is read-only with this text.
    sqlState == "25006" || (outcome == .notSent && message.contains("read-only"))
  }

  /// True if the database has no space left.
  var isFull: Bool { sqlState == "53100" }
}
