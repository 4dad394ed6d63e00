// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A new, empty folder for whoever needs one.
package struct TemporaryFolder: Sendable {
  package let path: String

  package init() throws {
    let url = FileManager.default.temporaryDirectory
      .appending(path: "statewire-\(UUID().uuidString.prefix(13))")
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    path = url.path
  }

  /// Removes it and everything in it.
  package func remove() {
    try? FileManager.default.removeItem(atPath: path)
  }
}
