// SPDX-License-Identifier: Apache-2.0

internal import CPostgres

/// The reason why a transaction has failed, or a connection could not be opened.
///
/// The message is for the operator. It contains neither a password nor stored data.
public struct PostgresError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The effect of the failure on the transaction.
  public enum Outcome: Sendable {
    /// The transaction was never sent: it has changed nothing.
    case notSent
    /// The connection was lost while the transaction was in progress: it may be committed.
    case unknown
    /// The database has refused the transaction: it has changed nothing.
    case refused
  }

  /// The effect on the transaction.
  public let outcome: Outcome
  /// The code of the database, of five characters; nil if the failure is not of the database.
  ///
  /// - Source: https://www.postgresql.org/docs/15/errcodes-appendix.html
  public let sqlState: String?
  /// The cause, one sentence.
  public let message: String

  /// Creates an error.
  public init(_ outcome: Outcome, sqlState: String? = nil, _ message: String) {
    self.outcome = outcome
    self.sqlState = sqlState
    self.message = message
  }

  /// The message and the code.
  public var description: String { sqlState.map { "\(message) (SQLSTATE \($0))" } ?? message }

  /// True if the same transaction may succeed later without a change: the server restarts, is a
  /// standby, has no space, or has ended the transaction because of another one.
  public var isTransient: Bool {
    guard let sqlState else { return outcome != .refused }
    return sqlState.hasPrefix("08") || sqlState.hasPrefix("40") || sqlState.hasPrefix("53")
      || sqlState.hasPrefix("57") || sqlState.hasPrefix("58") || sqlState == "25006"
      || sqlState == "25P03" || sqlState == "55P03"
  }

  /// True if the database has refused the transaction, and may accept the same one later.
  public var isRefusedForATime: Bool { outcome == .refused && isTransient }

  /// True if another server has to be found: this one stops, or does not accept writes.
  var endsConnection: Bool {
    guard let sqlState else { return false }
    return ["57P01", "57P02", "57P03", "57P05", "25006"].contains(sqlState)
  }

  /// The error of an ordered transaction that was not sent before its connection was lost; see
  /// `PostgresConnection.execute`.
  public static let afterLoss = PostgresError(
    .notSent, "an earlier transaction has to be repeated first")
  static let closed = PostgresError(.notSent, "the connection to the database is closed")
  /// The error of a statement after another one of its transaction has failed.
  static let skipped = PostgresError(.refused, "an earlier statement has failed")
}

extension PostgresError {
  /// Converts the error of a result.
  init(result: OpaquePointer) {
    func field(_ name: Int) -> String? {
      postgres_field(result, Int32(name)).map { String(cString: $0) }
    }
    let state = field(Int(POSTGRES_SQLSTATE))
    // Messages of data errors quote the data.
    let quotesData = state.map { $0.hasPrefix("22") || $0.hasPrefix("23") } ?? false
    let message = quotesData ? nil : field(Int(POSTGRES_MESSAGE))
    self.init(
      state == nil ? .unknown : .refused, sqlState: state,
      message ?? (state == nil ? "the connection to the database was lost" : "a statement failed"))
  }
}
