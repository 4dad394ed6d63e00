// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// A new, empty folder for whoever needs one.
package struct TemporaryFolder: Sendable {
  package let path: String

  package init() throws {
    let url = FileManager.default.temporaryDirectory
      .appending(path: "statewire-\(UUID().uuidString.prefix(13))")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  /// Removes it and everything in it.
  package func remove() {
    try? FileManager.default.removeItem(atPath: path)
  }
}

/// Whole files, as bytes.
enum TextFile {
  static func read(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: path)))
  }

  static func write(_ bytes: [UInt8], to path: String) throws {
    try Data(bytes).write(to: URL(filePath: path), options: .atomic)
  }
}
