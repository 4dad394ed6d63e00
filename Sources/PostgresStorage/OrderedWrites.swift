// SPDX-License-Identifier: Apache-2.0

internal import PostgresConnections
internal import StateMachines

/// The transactions of this node that write.
///
/// They are pipelined in one connection. If the connection is lost, those in progress are sent again
/// in their order, before later ones, also before those that the connection has not sent. Each has an
/// id, so that none is carried out twice.
///
/// A transaction that the database refuses for a time, because its disk is full or it is read-only, is
/// sent again in the same way until its patience is over; so is one that the database has ended because
/// of another transaction. Later ones on the same object may be in progress then: the database refuses
/// them (`statewire.write_in_order`), so that they are carried out after it.
final class OrderedWrites: Sendable {
  /// The object that a transaction changes. Clients see the order of the changes of one object only.
  enum Object: Hashable {
    case list(ByteString)
    case table(String)
    case ledger

    /// The queue of the object. The number of queues is limited, because the database keeps a value for
    /// each; objects of one queue wait for one another after a refusal.
    fileprivate var queue: Int { Int(UInt(bitPattern: hashValue) % 64) }
  }

  typealias Ended = @Sendable (Result<[PostgresRows], PostgresError>) -> Void

  private struct Write {
    let number: UInt64
    let transaction: PostgresTransaction
    let object: Object
    /// True if it only reads.
    let isReading: Bool
    /// The time until which it waits for the connection; nil once it may have changed something.
    var deadline: ContinuousClock.Instant?
    /// The time until which it is sent again after the database has refused it.
    let end: ContinuousClock.Instant
    /// The error with which the database has refused it for a time.
    var refusal: PostgresError?
    let ended: Ended
  }

  private struct State {
    var count: UInt64 = 0
    var inProgress = 0
    /// The number of lost connections before those in progress were passed to the connection.
    var losses = 0
    /// The number of the last write in progress of each queue.
    var last: [Int: UInt64] = [:]
    /// True from the loss of the connection, or a refusal, until the writes in progress are sent again.
    var isInterrupted = false
    var held: [Write] = []
    /// The number of refusals in a row, by which the pause before the next attempt grows.
    var refusals = 0
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
    for (write, result) in state.withLock({ sendHeld(&$0) }) { write.ended(result) }
  }

  /// Begins a transaction after all earlier ones.
  ///
  /// - Parameters:
  ///   - transaction: A transaction that may be repeated.
  ///   - object: The object that it changes or reads.
  ///   - isReading: True if it only reads, after the writes.
  ///   - ended: Called on the thread of the connection or of `close`, in the order in which the
  ///     transactions end.
  func begin(
    _ transaction: PostgresTransaction, on object: Object, isReading: Bool = false,
    ended: @escaping Ended
  ) {
    let deadline = ContinuousClock.now + patience
    let isClosed = state.withLock { state in
      if state.isClosed { return true }
      state.count += 1
      let write = Write(
        number: state.count, transaction: transaction, object: object, isReading: isReading,
        deadline: deadline, end: deadline, ended: ended)
      if state.isInterrupted { state.held.append(write) } else { send(write, &state) }
      return false
    }
    if isClosed { ended(.failure(.storageIsClosed)) }
  }

  /// Executes a transaction.
  ///
  /// - Throws: A `PostgresError`, or a `CancellationError`; the transaction may be committed then.
  func execute(
    _ transaction: PostgresTransaction, on object: Object
  ) async throws -> [PostgresRows] {
    let result = AwaitedResult<[PostgresRows]>()
    begin(transaction, on: object) { result.end($0.mapError { $0 }) }
    return try await result.wait()
  }

  /// Executes a transaction for which other tasks wait as well: the cancellation of this one has no
  /// effect.
  func executeForOthers(
    _ transaction: PostgresTransaction, on object: Object, isReading: Bool = false
  ) async throws -> [PostgresRows] {
    try await withCheckedThrowingContinuation { continuation in
      begin(transaction, on: object, isReading: isReading) { continuation.resume(with: $0) }
    }
  }

  private func send(_ write: Write, _ state: inout State) {
    if state.inProgress == 0 {
      state.losses = connection.losses
      state.last.removeAll(keepingCapacity: true)
    }
    state.inProgress += 1
    let transaction = write.isReading ? write.transaction : inOrder(write, &state)
    connection.execute(transaction, by: write.deadline, after: state.losses) {
      [weak self] result in
      let result = write.isReading ? result : result.map { Array($0.dropFirst()) }
      guard let self else { return write.ended(result) }
      ended(write, result)
    }
  }

  /// Returns the transaction of a write, which the database refuses unless it has carried out the one
  /// in progress before it in its queue.
  private func inOrder(_ write: Write, _ state: inout State) -> PostgresTransaction {
    let queue = write.object.queue
    let previous = state.last.updateValue(write.number, forKey: queue)
    var transaction = PostgresTransaction(
      Self.inOrder, .text("statewire.last_write_\(queue)"),
      previous.map { .text("\($0)") } ?? .null, .text("\(write.number)"))
    transaction.append(write.transaction)
    return transaction
  }

  private typealias Over = [(Write, Result<[PostgresRows], PostgresError>)]

  private func ended(_ write: Write, _ result: Result<[PostgresRows], PostgresError>) {
    let (over, pause): (Over, Duration?) = state.withLock { state in
      state.inProgress -= 1
      var over = [(write, result)]
      switch result {
      case .success: state.refusals = 0
      case .failure(.afterLoss) where state.isClosed:
        over = [(write, .failure(.storageIsClosed))]
      case .failure(let error):
        guard !state.isClosed,
          error.isOutOfOrder || error.leavesOutcomeOpen || error.isRefusedForATime
        else { break }
        over = []
        var write = write
        if error.leavesOutcomeOpen {
          if !write.isReading { write.deadline = nil }
        } else if !error.isOutOfOrder {
          write.refusal = error
        }
        state.held.append(write)
        state.isInterrupted = true
      }
      guard state.inProgress == 0 else { return (over, nil) }
      guard state.isInterrupted else { return (over, nil) }
      guard !state.isClosed, state.held.contains(where: { $0.refusal != nil }) else {
        return (over + sendHeld(&state), nil)
      }
      state.refusals += 1
      return (over, Self.backoff.delay(before: state.refusals + 1))
    }
    for (write, result) in over { write.ended(result) }
    guard let pause else { return }
    connection.after(pause) { [weak self] in
      guard let self else { return }
      let over = state.withLock { sendHeld(&$0) }
      for (write, result) in over { write.ended(result) }
    }
  }

  /// Sends the held writes in their order.
  ///
  /// - Returns: Those that are not sent again, with their results.
  private func sendHeld(_ state: inout State) -> Over {
    state.isInterrupted = false
    let held = state.held.sorted { $0.number < $1.number }
    state.held = []
    var over: Over = []
    for var write in held {
      if state.isClosed {
        over.append((write, .failure(.storageIsClosed)))
      } else if let refusal = write.refusal, write.end <= .now {
        over.append((write, .failure(refusal)))
      } else {
        write.refusal = nil
        send(write, &state)
      }
    }
    return over
  }

  private static let backoff = Backoff.exponential(
    base: .milliseconds(100), maximum: .seconds(1))

  /// The time between two removals of old ids.
  private static let forgetInterval = Duration.seconds(60)

  private func forgetLater() {
    connection.after(Self.forgetInterval) { [weak self] in
      guard let self else { return }
      connection.execute(forgetting, by: .now) { _ in }
      forgetLater()
    }
  }

  private static let inOrder = PostgresStatement(
    "write in order", "SELECT statewire.write_in_order($1::text, $2::text, $3::text)")
  private static let forget = PostgresStatement(
    "forget operations", "SELECT statewire.forget_operations($1::bigint)")
}

extension PostgresError {
  static let storageIsClosed = PostgresError(.notSent, "the storage is closed")

  /// True if the transaction may be committed, or was ended by the end of its server.
  var leavesOutcomeOpen: Bool {
    outcome == .unknown || sqlState.map { $0.hasPrefix("57P") } ?? false
  }

  /// True if an earlier transaction has to be repeated before this one, which has changed nothing.
  fileprivate var isOutOfOrder: Bool {
    self == .afterLoss || sqlState == PostgresSchema.outOfOrder
  }

  /// True if the database has ended the transaction because of another one.
  var isConflict: Bool { sqlState?.hasPrefix("40") ?? false }

  /// True if the database or this connection may not write.
  var isReadOnly: Bool {
    // libpq rejects a server that is read-only with this text.
    sqlState == "25006" || (outcome == .notSent && message.contains("read-only"))
  }

  /// True if the database has no space left.
  var isFull: Bool { sqlState == "53100" }
}
