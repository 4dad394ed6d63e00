// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import GRDB

// Text from clients (titles, ids, names) is stored as a blob of its UTF-8 bytes. Blobs compare by
// bytes, and U+0000 does not terminate a blob, as it terminates a text that GRDB binds.

extension String {
  /// The UTF-8 bytes, as the value of a column.
  package var blob: DatabaseValue { Data(utf8).databaseValue }
}

extension Row {
  /// Returns the text whose UTF-8 bytes are in a column; nil for null.
  ///
  /// - Throws: An error of GRDB if the column cannot be read.
  public func text(_ column: Int) throws -> String? {
    try withUnsafeData(atIndex: column) { data in data.map { String(decoding: $0, as: UTF8.self) } }
  }
}
