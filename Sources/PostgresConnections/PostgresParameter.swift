// SPDX-License-Identifier: Apache-2.0

/// A parameter of a statement in the binary form of its type. The SQL of the statement names the
/// type.
///
/// - Source: https://www.postgresql.org/docs/15/protocol-overview.html#PROTOCOL-FORMAT-CODES;
///   the form of arrays is that of `array_send` in PostgreSQL.
public struct PostgresParameter: Sendable {
  /// The bytes; nil for null.
  let bytes: [UInt8]?

  /// The value null, for a parameter of any type.
  public static let null = PostgresParameter(bytes: nil)

  /// Returns a parameter of type `bigint`: 8 bytes.
  public static func integer(_ value: Int64) -> PostgresParameter {
    PostgresParameter(bytes: bigEndian(value))
  }

  /// Returns a parameter of type `bytea`, `text`, or another type whose form is its bytes.
  public static func bytes(_ value: [UInt8]) -> PostgresParameter {
    PostgresParameter(bytes: value)
  }

  /// Returns a parameter of type `text`, in UTF-8. PostgreSQL refuses a text with the character 0.
  public static func text(_ value: String) -> PostgresParameter { .bytes(Array(value.utf8)) }

  /// Returns a parameter of type `uuid`: 16 bytes.
  public static func uuid(_ value: PostgresUUID) -> PostgresParameter { .bytes(value.bytes) }

  /// Returns a parameter of type `boolean`: one byte.
  public static func boolean(_ value: Bool) -> PostgresParameter { .bytes([value ? 1 : 0]) }

  /// Returns a parameter of type `bigint[]`, with one dimension. A nil element is null.
  public static func integers(_ values: [Int64?]) -> PostgresParameter {
    array(20, values) { $0.map { bigEndian($0) } }
  }

  /// Returns a parameter of type `uuid[]`, with one dimension.
  public static func uuids(_ values: [PostgresUUID]) -> PostgresParameter {
    array(2950, values) { $0.bytes }
  }

  /// Returns a parameter of type `bytea[]`, with one dimension. A nil element is null.
  public static func byteArrays(_ values: [[UInt8]?]) -> PostgresParameter {
    array(17, values) { $0 }
  }

  /// Returns a parameter of type `boolean[]`, with one dimension.
  public static func booleans(_ values: [Bool]) -> PostgresParameter {
    array(16, values) { [$0 ? 1 : 0] }
  }

  /// - Parameter type: The object id of the type of the elements, which never changes.
  private static func array<Value>(
    _ type: Int32, _ values: [Value], _ form: (Value) -> [UInt8]?
  ) -> PostgresParameter {
    let isEmpty = values.isEmpty
    // The number of dimensions, a flag for nulls, the type, and length and first index.
    var bytes = bigEndian(Int32(isEmpty ? 0 : 1)) + bigEndian(Int32(1)) + bigEndian(type)
    if isEmpty { return PostgresParameter(bytes: bytes) }
    bytes += bigEndian(Int32(values.count)) + bigEndian(Int32(1))
    for value in values {
      if let form = form(value) {
        bytes += bigEndian(Int32(form.count))
        bytes += form
      } else {
        bytes += bigEndian(Int32(-1))
      }
    }
    return PostgresParameter(bytes: bytes)
  }

  private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }
}

/// A `uuid`: 128 bits.
public struct PostgresUUID: Hashable, Sendable {
  /// The first 64 bits.
  public let high: UInt64
  /// The last 64 bits.
  public let low: UInt64

  /// Creates a value from its bits.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  var bytes: [UInt8] {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
  }

  init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes[8...].reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// The rows that a statement has returned.
public struct PostgresRows: Sendable {
  private let columns: Int
  private let cells: [[UInt8]?]

  init(columns: Int, cells: [[UInt8]?]) {
    self.columns = columns
    self.cells = cells
  }

  /// The number of rows.
  public var count: Int { columns == 0 ? 0 : cells.count / columns }
  /// True if there are no rows.
  public var isEmpty: Bool { count == 0 }

  /// Returns a `bytea`, `text` or `uuid`; nil for null.
  public func bytes(_ row: Int, _ column: Int) -> [UInt8]? { cells[row * columns + column] }

  /// Returns a `text`; nil for null.
  public func text(_ row: Int, _ column: Int) -> String? {
    bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns a `bigint`, `integer` or `smallint`; nil for null.
  public func integer(_ row: Int, _ column: Int) -> Int64? {
    guard let bytes = bytes(row, column), let first = bytes.first else { return nil }
    return bytes.reduce(first >= 0x80 ? -1 : 0) { $0 << 8 | Int64($1) }
  }

  /// Returns a `boolean`; nil for null.
  public func boolean(_ row: Int, _ column: Int) -> Bool? { bytes(row, column).map { $0 == [1] } }

  /// Returns a `uuid`; nil for null.
  public func uuid(_ row: Int, _ column: Int) -> PostgresUUID? {
    bytes(row, column).flatMap(PostgresUUID.init(bytes:))
  }
}

/// A statement, which a connection prepares when it first uses it.
public struct PostgresStatement: Sendable {
  /// The name of the prepared statement: unique among the statements of a connection.
  let name: String
  let sql: String

  /// Creates a statement.
  public init(_ name: String, _ sql: String) {
    self.name = name
    self.sql = sql
  }
}

/// Statements that are executed as one transaction.
public struct PostgresTransaction: Sendable {
  private(set) var queries: [(statement: PostgresStatement, parameters: [PostgresParameter])] = []

  /// Creates an empty transaction.
  public init() {}

  /// Creates a transaction of one statement.
  public init(_ statement: PostgresStatement, _ parameters: PostgresParameter...) {
    queries = [(statement, parameters)]
  }

  /// Creates a transaction of one statement.
  public init(_ statement: PostgresStatement, _ parameters: [PostgresParameter]) {
    queries = [(statement, parameters)]
  }

  /// Appends a statement.
  public mutating func append(_ statement: PostgresStatement, _ parameters: PostgresParameter...) {
    queries.append((statement, parameters))
  }

  /// Appends a statement.
  public mutating func append(
    _ statement: PostgresStatement, _ parameters: [PostgresParameter]
  ) {
    queries.append((statement, parameters))
  }

  /// Appends the statements of another transaction.
  public mutating func append(_ other: PostgresTransaction) { queries += other.queries }
}
