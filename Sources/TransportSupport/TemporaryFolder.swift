// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A new, empty folder that only the current user can access (mode 0700), in the system's folder
/// for temporary files.
package struct TemporaryFolder: Sendable {
  /// The absolute path of the folder.
  package let path: String

  /// Creates the folder.
  ///
  /// - Throws: The error of Foundation if the folder cannot be created.
  package init() throws {
    let url = FileManager.default.temporaryDirectory
      .appending(path: "statewire-\(UUID().uuidString.prefix(13))")
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    path = url.path
  }

  /// Removes the folder and its contents; errors are ignored.
  package func remove() {
    try? FileManager.default.removeItem(atPath: path)
  }
}
