// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// Storage for the tables and documents of one's own stores.
///
/// A machine uses `Table` and `Document`, which give effects. Storage keeps the rows of a table as
/// bytes:
///
///     Table, Document                     types, effects, migration of rows
///       -> DocumentStorage                rows of bytes, one order of changes for each table
///            MemoryDocumentStorage        until the process ends, and for tests
///            SQLiteDocumentStorage        a file of the data folder
///
/// Every change of a table has a position, one more than the change before. A watch knows the
/// position that it has delivered, so that it delivers each change after it, whatever notices are
/// late, repeated or lost.
public protocol DocumentStorage: Sendable {
  /// Reads the rows of a table that have changed since a position, or all rows.
  ///
  /// - Parameters:
  ///   - table: The name of the table: any text, compared by its bytes. An unknown table has no rows
  ///     and the position 0.
  ///   - position: The position that the caller has; nil for all rows. The result has all rows, too,
  ///     if the storage does not know what has changed since then.
  func read(
    _ table: String, after position: TablePosition?
  ) async throws(DocumentError) -> StoredRows

  /// Changes rows of a table in one transaction; no other change happens between reading and
  /// writing.
  ///
  /// - Parameters:
  ///   - table: The name of the table.
  ///   - ids: The ids of the rows that `change` reads.
  ///   - operation: A globally unique id of the write, which is carried out only once under it; nil
  ///     if it is never repeated.
  ///   - change: Returns the changes, in their order. It receives the rows in the order of `ids`, nil
  ///     for a row that does not exist, and the position of its first change. It may be called more
  ///     than once, so it must have no other effect.
  /// - Returns: A position that includes the changes.
  /// - Throws: `DocumentError`, also the one that `change` throws; nothing has changed then.
  func update(
    _ table: String, reading ids: [String], once operation: String?,
    _ change:
      @escaping @Sendable (_ rows: [StoredRow?], _ next: TablePosition) throws(DocumentError) ->
      [StoredChange]
  ) async throws(DocumentError) -> TablePosition

  /// Returns notices of the changes that any process makes to a table from now on, until the task
  /// that reads them is cancelled or the storage is closed.
  func notices(of table: String) -> AsyncStream<TableNotice>
}

/// The number of changes that a table has ever had.
public struct TablePosition: RawRepresentable, Codable, Hashable, Comparable, Sendable,
  ExpressibleByIntegerLiteral
{
  /// The number of changes.
  public let rawValue: Int64
  /// Creates a position from a number of changes.
  public init(rawValue: Int64) { self.rawValue = rawValue }
  /// Creates a position from a number of changes.
  public init(integerLiteral value: Int64) { rawValue = value }

  /// Returns true if the first position is before the second one.
  public static func < (one: TablePosition, other: TablePosition) -> Bool {
    one.rawValue < other.rawValue
  }

  /// Returns the position some changes later.
  public static func + (position: TablePosition, changes: Int) -> TablePosition {
    TablePosition(rawValue: position.rawValue + Int64(changes))
  }
}

/// A row as it is stored.
public struct StoredRow: Equatable, Sendable {
  /// The id of the row.
  public let id: String
  /// The version of the type that has encoded the row.
  public let version: Int
  /// The row as JSON text.
  public let value: [UInt8]

  /// Creates a row from its parts.
  public init(id: String, version: Int, value: [UInt8]) {
    (self.id, self.version, self.value) = (id, version, value)
  }

  /// The size of the row for limits: the bytes of the id and of the value, and 16.
  public var size: Int { id.utf8.count + value.count + 16 }
}

/// One change of a row.
public enum StoredChange: Equatable, Sendable {
  /// Replaces the row with this id at its place, or adds it at the end.
  case put(StoredRow)
  /// Removes a row.
  case removed(id: String)
}

/// Rows that were read from a table.
public struct StoredRows: Sendable {
  /// True if `rows` are all rows of the table.
  public let isComplete: Bool
  /// The changes since the position of the reader: removals first, then rows in the order in which
  /// they were added.
  public let changes: [StoredChange]
  /// The position at which the table was read.
  public let position: TablePosition

  /// Creates the result of a read.
  public init(isComplete: Bool, changes: [StoredChange], position: TablePosition) {
    (self.isComplete, self.changes, self.position) = (isComplete, changes, position)
  }
}

/// A notice that a table has changed. Several notices may have the same changes.
public struct TableNotice: Sendable {
  /// A position that the table has reached.
  public let position: TablePosition
  /// The position after which `changes` are all changes; `position` if there are none.
  public let start: TablePosition
  /// The changes from `start` to `position`, as `StoredRows` has them; empty if only the position is
  /// known.
  public let changes: [StoredChange]

  /// Creates a notice.
  ///
  /// - Parameters:
  ///   - position: A position that the table has reached.
  ///   - changes: The last changes, each of them; empty if only the position is known.
  public init(position: TablePosition, changes: [StoredChange] = []) {
    self.init(position: position, start: position + -changes.count, changes: changes)
  }

  /// Creates a notice of changes that were read.
  ///
  /// - Parameters:
  ///   - position: A position that the table has reached.
  ///   - start: The position since which the changes were read.
  ///   - changes: What has changed.
  public init(position: TablePosition, start: TablePosition, changes: [StoredChange]) {
    (self.position, self.start, self.changes) = (position, start, changes)
  }
}
