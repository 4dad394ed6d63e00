// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

/// The conversion between the rows of a table and their stored form.
struct RowCoding<Row: Codable & Sendable>: Sendable {
  /// The words for a row in errors, for example `the row "7" of the table "entries"`.
  let describe: @Sendable (_ id: String) -> String
  let version: Int
  /// The row from which members are filled in; nil if there is none.
  let defaults: Row?
  let migrate: (@Sendable (_ version: Int, _ row: JSONValue) throws -> JSONValue)?

  /// Encodes a row.
  ///
  /// - Throws: `invalid` if it cannot be encoded, for example because a number is not finite.
  func encode(_ row: Row, id: String) throws(DocumentError) -> StoredRow {
    do throws(JSONError) {
      return StoredRow(id: id, version: version, value: try JSON.encode(row))
    } catch {
      throw DocumentError(.invalid, "\(describe(id)) cannot be stored: \(error)")
    }
  }

  /// Decodes a row, migrates one of an older version, and fills in members that it lacks.
  ///
  /// - Throws: `unreadable` with the path into the row.
  func decode(_ row: StoredRow) throws(DocumentError) -> Row {
    do throws(JSONError) {
      if row.version == version, let value = try? JSON.decode(Row.self, from: row.value) {
        return value
      }
      let value = try migrated(row)
      return try DefaultMembers.decode(Row.self, from: value) { () throws(JSONError) in
        guard let defaults else { return nil }
        return try DefaultMembers(defaults)
      }
    } catch {
      throw DocumentError(.unreadable, "\(describe(row.id)) cannot be read: \(error)")
    }
  }

  private func migrated(_ row: StoredRow) throws(JSONError) -> JSONValue {
    let value = try JSONValue(parsing: row.value, limits: .stored)
    guard row.version <= version else {
      throw JSONError(
        .value,
        "it has version \(row.version), and this program reads versions up to \(version)")
    }
    guard row.version < version, let migrate else { return value }
    do {
      return try migrate(row.version, value)
    } catch {
      let cause = error as? JSONError ?? JSONError(.value, String(describing: error))
      throw JSONError(
        cause.code, "migrating from version \(row.version) has failed: \(cause.message)",
        path: cause.path)
    }
  }
}
