// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
internal import PostgresConnections
internal import StoredTodoLists

/// A ledger of amounts in US dollars in PostgreSQL, which all nodes share. Entries never change.
///
/// Each entry has the sum of all amounts up to its own, which this process computes: an entry is
/// posted with the id that follows that of the last one, or again if another one has the id.
public final class PostgresLedger: BalanceService {
  private let parts: StorageParts
  private let calendar: any StoreClock

  init(_ parts: StorageParts, calendar: any StoreClock) {
    (self.parts, self.calendar) = (parts, calendar)
  }

  /// Adds an entry with the current time.
  ///
  /// - Complexity: independent of the number of entries.
  /// - Parameter amount: In US dollars; a negative amount reduces the balance.
  /// - Throws: The reason, which can be shown as one sentence; nothing has been written in that case.
  public func post(amount: DecimalNumber) async throws {
    let once = RandomUUID.text()
    while true {
      let last = try await last()
      let sum = (last?.sum ?? .zero) + amount
      guard sum.digitCount <= DecimalNumber.maximumDigits else {
        throw PostgresError(
          .refused, "the balance would have more than \(DecimalNumber.maximumDigits) digits")
      }
      let now = Timestamp(sinceEpoch: calendar.sinceEpoch)
      let posting = PostgresTransaction(
        Self.post, .integer((last?.id ?? 0) + 1), .text(once), .text(amount.description),
        .text(sum.description), .integer(Int64(now.secondsSinceEpoch)))
      if try await parts.writes.execute(posting, on: .ledger)[0].boolean(0, 0) == true { return }
    }
  }

  /// Returns the exact sum of all amounts and the time of the last entry; 0 and the current time if
  /// there are no entries.
  ///
  /// - Complexity: independent of the number of entries.
  /// - Throws: The reason, which can be shown as one sentence.
  public func readBalance() async throws -> BalanceResponse {
    let last = try await last()
    return BalanceResponse(
      balance: last?.sum ?? .zero,
      date: last?.date ?? Timestamp(sinceEpoch: calendar.sinceEpoch))
  }

  /// Returns an effect that reads the balance, for a store.
  ///
  /// On failure the effect sends `failed`, and the reason is reported to the operator.
  public func balance() -> Effect<BalanceResult> {
    .run("balance") { [self] context in
      do {
        let response = try await readBalance()
        parts.incidents.end()
        await context.send(.response(response))
      } catch {
        if error is CancellationError { return }
        parts.incidents.add("The balance could not be read", error)
        await context.send(.failed)
      }
    }
  }

  private func last() async throws -> (id: Int64, sum: DecimalNumber, date: Timestamp)? {
    let rows = try await parts.changes.read(PostgresTransaction(Self.last), isPatient: false)[0]
    guard !rows.isEmpty else { return nil }
    guard let id = rows.integer(0, 0), let sum = rows.text(0, 1).flatMap({ DecimalNumber($0) }),
      let seconds = rows.integer(0, 2)
      // This program never writes such a row.
    else { throw PostgresError(.refused, "the last entry of the ledger is damaged") }
    return (id, sum, Timestamp(secondsSinceEpoch: Int(seconds)))
  }

  private static let last = PostgresStatement(
    "ledger last", "SELECT id, sum, date FROM statewire.ledger_entry ORDER BY id DESC LIMIT 1")
  private static let post = PostgresStatement(
    "ledger post",
    "SELECT statewire.ledger_post($1::bigint, $2::bytea, $3::text, $4::text, $5::bigint)")
}
