// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Calls `body` with the path of a folder that is not there yet, and removes what it has become.
public func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
  let parent = FileManager.default.temporaryDirectory.appending(path: "statewire-\(UUID())")
  try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: false)
  let result: Swift.Result<Result, any Error>
  do {
    result = .success(try await body(parent.appending(path: "data").path))
  } catch {
    result = .failure(error)
  }
  try FileManager.default.removeItem(at: parent)
  return try result.get()
}

extension FileManager {
  /// Makes a folder for its owner alone, whatever the umask.
  public func makeFolder(_ path: String) throws {
    try createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  /// The permission bits of a file or folder.
  public func permissions(_ path: String) throws -> Int? {
    try attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }
}
