// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import GRDB

// Text from outside (titles, ids, names) is kept as a blob of its UTF-8 bytes: blobs compare by bytes, and a U+0000 in one
// does not end it, as it does when GRDB binds a text.

extension String {
  /// The UTF-8 bytes, as the value of a column.
  package var blob: DatabaseValue { Data(utf8).databaseValue }
}

extension Row {
  /// The text whose bytes are in a column; nil for null.
  public func text(_ column: Int) throws -> String? {
    try withUnsafeData(atIndex: column) { data in data.map { String(decoding: $0, as: UTF8.self) } }
  }
}
