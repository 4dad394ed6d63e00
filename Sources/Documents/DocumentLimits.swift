// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The limits of stored tables. A write that exceeds one is refused, and nothing changes.
public struct DocumentLimits: Sendable {
  /// The longest row or document: the bytes of its JSON text and of its id, and 16.
  public var rowBytes = 256 << 10
  /// The most rows of one table.
  public var rows = 100_000
  /// The largest table: the bytes of its rows.
  public var tableBytes = 16 << 20
  /// The most tables and documents of a storage.
  public var tables = 10_000
  /// The largest storage: the bytes of all rows.
  public var bytes = 256 << 20

  /// Creates the default limits.
  public init() {}

  /// The longest name of a table, in bytes.
  static var nameBytes: Int { 1024 }
}

/// The size of a table or of a storage.
public struct StoredSize: Equatable, Sendable {
  /// The number of rows of a table, or of tables of a storage.
  public var count: Int
  /// The bytes of all rows.
  public var bytes: Int

  /// Creates a size.
  public init(count: Int = 0, bytes: Int = 0) { (self.count, self.bytes) = (count, bytes) }
}

extension DocumentLimits {
  /// Checks a name and the rows to be put.
  ///
  /// - Throws: `DocumentError` with a refusal.
  public func check(_ changes: [StoredChange], of table: String) throws(DocumentError) {
    if table.utf8.count > Self.nameBytes {
      throw refused("rowBytes", "the name of a table has at most \(Self.nameBytes) bytes")
    }
    for case .put(let row) in changes where row.size > rowBytes {
      throw refused("rowBytes", "a row has at most \(rowBytes) bytes")
    }
  }

  /// Checks the sizes after a change against those before. A change that makes nothing larger is
  /// never refused.
  ///
  /// - Throws: `DocumentError` with a refusal.
  public func check(
    table: StoredSize, from old: StoredSize, storage: StoredSize, from oldStorage: StoredSize
  ) throws(DocumentError) {
    if table.count > max(rows, old.count) {
      throw refused("tableRows", "a table has at most \(rows) rows")
    }
    if table.bytes > max(tableBytes, old.bytes) {
      throw refused("tableBytes", "the rows of a table have at most \(tableBytes) bytes")
    }
    if storage.count > max(tables, oldStorage.count) {
      throw refused("tables", "the storage has at most \(tables) tables")
    }
    if storage.bytes > max(bytes, oldStorage.bytes) {
      throw refused("storageBytes", "the rows of all tables have at most \(bytes) bytes")
    }
  }

  private func refused(_ limit: String, _ message: String) -> DocumentError {
    DocumentError(InputRefusal(.limit(limit), message))
  }
}
