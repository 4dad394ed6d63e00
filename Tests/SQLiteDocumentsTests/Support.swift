// SPDX-License-Identifier: Apache-2.0

import Documents
import SQLiteDocuments
import StorageTestSupport
import TestSupport

/// The implementations of `DocumentStorage`. Each passes the same tests.
enum Implementation: CaseIterable {
  case memory, sqlite

  /// Calls `body` with an empty storage, and closes it.
  func withStorage(
    limits: DocumentLimits = DocumentLimits(), removals: Int = 1000,
    _ body: (any DocumentStorage) async throws -> Void
  ) async throws {
    switch self {
    case .memory: try await body(MemoryDocumentStorage(limits: limits, removals: removals))
    case .sqlite:
      try await withFolder { folder in
        let complaints = Complaints()
        let storage = SQLiteDocumentStorage(
          folder: folder, limits: limits, removals: removals, failed: complaints.add)
        do {
          try await body(storage)
        } catch {
          await storage.close()
          throw error
        }
        await storage.close()
      }
    }
  }
}

extension DocumentStorage {
  /// Puts a row with this text as its value.
  @discardableResult
  func put(
    _ id: String, _ text: String = "1", in table: String = "t", once: String? = nil
  ) async throws -> TablePosition {
    try await update(table, reading: [], once: once) { _, _ in [.put(stored(id, text))] }
  }

  /// Removes a row.
  @discardableResult
  func remove(_ id: String, in table: String = "t") async throws -> TablePosition {
    try await update(table, reading: [], once: nil) { _, _ in [.removed(id: id)] }
  }

  /// Returns all rows as `id=value`, in their order.
  func contents(of table: String = "t") async throws -> [String] {
    let rows = try await read(table, after: nil)
    return rows.isComplete ? rows.words : ["incomplete"]
  }
}

extension StoredRows {
  /// The changes as words: `id=value`, or `-id` for a removal.
  var words: [String] { changes.map(\.words) }
}

extension StoredChange {
  var words: String {
    switch self {
    case .put(let row): "\(row.id)=\(String(decoding: row.value, as: UTF8.self))"
    case .removed(let id): "-\(id)"
    }
  }
}

/// A row with this text as its value.
func stored(_ id: String, _ text: String = "1", version: Int = 1) -> StoredRow {
  StoredRow(id: id, version: version, value: Array(text.utf8))
}
