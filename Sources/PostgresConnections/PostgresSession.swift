// SPDX-License-Identifier: Apache-2.0

internal import CPostgres
internal import Foundation

/// One open connection, in libpq's pipeline mode.
///
/// Each transaction is a segment of the pipeline: its statements are one implicit transaction, which
/// the synchronisation point at its end commits. After a failed statement the others of the segment
/// are skipped, and nothing of the segment remains.
///
/// - Source: https://www.postgresql.org/docs/15/libpq-pipeline-mode.html
final class PostgresSession {
  private let handle: OpaquePointer
  private var segments: [Segment] = []
  /// The names of the statements that were sent to be prepared.
  private var prepared: Set<String> = []
  /// True while libpq has bytes that the socket did not take.
  private(set) var hasUnsentBytes = false
  /// The failure of the last statement that could not be prepared.
  private var preparingError: PostgresError?

  /// A part of the pipeline up to a synchronisation point.
  private struct Segment {
    /// The statement that the segment prepares; nil if it is a transaction.
    var preparing: String?
    /// The number of results before the synchronisation point.
    let resultCount: Int
    var rows: [PostgresRows] = []
    var ended = 0
    var error: PostgresError?
    let end: PostgresConnection.Ended?
  }

  /// Connects, and blocks until that has succeeded or failed.
  init(_ address: PostgresAddress, application: String) throws(PostgresError) {
    if let problem = postgres_load() { throw PostgresError(.notSent, String(cString: problem)) }
    let options = address.keywords(application: application)
    var strings = (options.map(\.keyword), options.map(\.value))
    let opened = Self.withPointers(&strings.0) { keywords in
      Self.withPointers(&strings.1) { values in postgres_connect(keywords, values) }
    }
    guard let opened else { throw PostgresError(.notSent, "no memory for a connection") }
    guard postgres_is_connected(opened) else {
      let error = PostgresError(.notSent, Self.message(opened))
      postgres_finish(opened)
      throw error
    }
    let version = postgres_server_version(opened)
    guard version >= 150_000, postgres_enter_pipeline(opened) else {
      postgres_finish(opened)
      throw PostgresError(
        .notSent, "the database is PostgreSQL \(version / 10_000); 15 or later is required")
    }
    handle = opened
  }

  deinit { postgres_finish(handle) }

  var socket: Int32 { postgres_socket(handle) }

  // MARK: Sending

  /// Sends a transaction. Its end is reported by `receive` or `end`.
  func send(_ job: Job) {
    for (statement, _) in job.transaction.queries { prepare(statement) }
    segments.append(
      Segment(
        resultCount: job.transaction.queries.count,
        end: job.ended))
    // Where libpq refuses to send, the connection is lost; `receive` finds that.
    for (statement, parameters) in job.transaction.queries { send(statement, parameters) }
    _ = postgres_send_sync(handle)
    flush()
  }

  private func prepare(_ statement: PostgresStatement) {
    guard prepared.insert(statement.name).inserted else { return }
    // In a segment of its own: a failure of the transaction does not skip it.
    segments.append(Segment(preparing: statement.name, resultCount: 1, end: nil))
    _ = postgres_send_prepare(handle, statement.name, statement.sql)
    _ = postgres_send_sync(handle)
  }

  private func send(_ statement: PostgresStatement, _ parameters: [PostgresParameter]) {
    let lengths = parameters.map { Int32(clamping: $0.bytes?.count ?? 0) }
    let formats = [Int32](repeating: 1, count: parameters.count)
    func pass(_ index: Int, _ values: inout [UnsafePointer<CChar>?]) {
      guard index < parameters.count else {
        _ = postgres_send(
          handle, statement.name, Int32(parameters.count), values, lengths, formats)
        return
      }
      guard let bytes = parameters[index].bytes else {
        values.append(nil)
        return pass(index + 1, &values)
      }
      bytes.withUnsafeBytes { buffer in
        // An empty array may have no address, which would be null.
        var empty: CChar = 0
        withUnsafePointer(to: &empty) { empty in
          values.append(buffer.baseAddress?.assumingMemoryBound(to: CChar.self) ?? empty)
          pass(index + 1, &values)
        }
      }
    }
    var values: [UnsafePointer<CChar>?] = []
    pass(0, &values)
  }

  private func flush() { hasUnsentBytes = postgres_flush(handle) == 1 }

  // MARK: Receiving

  /// Takes all bytes that have arrived, and ends the transactions whose results are complete.
  ///
  /// - Returns: The reason if the connection is lost; nil otherwise.
  func receive() -> PostgresError? {
    let isReadable = postgres_consume(handle)
    flush()
    var ending: PostgresError?
    // The results of each statement end with nil. A second one follows if nothing else is expected.
    var isAfterNil = false
    while !segments.isEmpty, !postgres_is_busy(handle) {
      guard let result = postgres_next_result(handle) else {
        if isAfterNil || !postgres_is_connected(handle) { break }
        isAfterNil = true
        continue
      }
      isAfterNil = false
      defer { postgres_clear(result) }
      let error = take(result)
      if let error, error.endsConnection { ending = error }
    }
    if isReadable, postgres_is_connected(handle), ending == nil { return nil }
    return ending ?? PostgresError(.unknown, Self.message(handle))
  }

  /// Takes one result.
  ///
  /// - Returns: The error if it is one.
  private func take(_ result: OpaquePointer) -> PostgresError? {
    switch Int(postgres_status(result)) {
    case Int(POSTGRES_PIPELINE_SYNC):
      finish(segments.removeFirst())
    case Int(POSTGRES_TUPLES_OK), Int(POSTGRES_COMMAND_OK):
      segments[0].rows.append(Self.rows(of: result))
    case Int(POSTGRES_PIPELINE_ABORTED):
      if segments[0].error == nil { segments[0].error = .skipped }
    default:
      let error = PostgresError(result: result)
      if segments[0].error == nil { segments[0].error = error }
      return error
    }
    return nil
  }

  private func finish(_ segment: Segment) {
    if let name = segment.preparing {
      // The transactions that use it fail; the next one prepares it again.
      if let error = segment.error {
        prepared.remove(name)
        preparingError = error
      }
      return
    }
    if let error = segment.error {
      // The statement does not exist because it could not be prepared.
      segment.end?(.failure(error.sqlState == "26000" ? preparingError ?? error : error))
    } else if segment.rows.count == segment.resultCount {
      segment.end?(.success(segment.rows))
    } else {
      segment.end?(.failure(PostgresError(.unknown, "a result of the database is missing")))
    }
  }

  /// Returns true if another session has notified a channel since the last call.
  func takeNotifications() -> Bool {
    var isNotified = false
    var isOwn = false
    while postgres_take_notification(handle, &isOwn) { isNotified = isNotified || !isOwn }
    return isNotified
  }

  /// Ends all transactions that are in progress: it is unknown whether they are committed.
  func end(_ error: PostgresError) {
    let lost = segments
    segments = []
    for segment in lost {
      // The code of the server says why the connection has ended, and nothing of the transaction.
      segment.end?(.failure(PostgresError(.unknown, error.description)))
    }
  }

  private static func rows(of result: OpaquePointer) -> PostgresRows {
    let (rows, columns) = (postgres_row_count(result), postgres_column_count(result))
    var cells: [[UInt8]?] = []
    cells.reserveCapacity(Int(rows) * Int(columns))
    for row in 0..<rows {
      for column in 0..<columns {
        guard !postgres_is_null(result, row, column),
          let value = postgres_value(result, row, column)
        else {
          cells.append(nil)
          continue
        }
        let length = Int(postgres_length(result, row, column))
        cells.append(Array(UnsafeRawBufferPointer(start: value, count: length)))
      }
    }
    return PostgresRows(columns: Int(columns), cells: cells)
  }

  /// Returns the message of libpq in one line. It names host, port and user, and no password.
  private static func message(_ handle: OpaquePointer) -> String {
    let text = String(cString: postgres_error(handle)).split(separator: "\n")
    let lines = text.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    return lines.isEmpty ? "the connection to the database was lost" : lines.joined(separator: "; ")
  }

  /// Calls `body` with C strings, and null after the last one.
  private static func withPointers<Output>(
    _ strings: inout [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Output
  ) -> Output {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    let pointers = copies.map { UnsafePointer($0) } + [nil]
    return pointers.withUnsafeBufferPointer { buffer in
      guard let first = buffer.baseAddress else { preconditionFailure("the array has an element") }
      return body(first)
    }
  }
}
