// SPDX-License-Identifier: Apache-2.0

public import Documents

extension DocumentStorage {
  /// Puts a row with this text as its value.
  @discardableResult
  public func put(
    _ id: String, _ text: String = "1", in table: String = "t", once: String? = nil
  ) async throws -> TablePosition {
    try await update(table, reading: [], once: once) { _, _ in [.put(stored(id, text))] }
  }

  /// Removes a row.
  @discardableResult
  public func remove(_ id: String, in table: String = "t") async throws -> TablePosition {
    try await update(table, reading: [], once: nil) { _, _ in [.removed(id: id)] }
  }

  /// Returns all rows as `id=value`, in their order.
  public func contents(of table: String = "t") async throws -> [String] {
    let rows = try await read(table, after: nil)
    return rows.isComplete ? rows.words : ["incomplete"]
  }
}

extension StoredRows {
  /// The changes as words: `id=value`, or `-id` for a removal.
  public var words: [String] { changes.map(\.words) }
}

extension StoredChange {
  public var words: String {
    switch self {
    case .put(let row): "\(row.id)=\(String(decoding: row.value, as: UTF8.self))"
    case .removed(let id): "-\(id)"
    }
  }
}

/// A row with this text as its value.
public func stored(_ id: String, _ text: String = "1", version: Int = 1) -> StoredRow {
  StoredRow(id: id, version: version, value: Array(text.utf8))
}
