// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A folder that goes away with its last user.
public final class TestFolder: Sendable {
  public let url: URL
  public var path: String { url.path }

  public init() throws {
    // Short, since a socket's path has about a hundred bytes.
    let name = String(UInt64.random(in: .min ... .max), radix: 36)
    url = FileManager.default.temporaryDirectory.appending(path: "statewire-\(name)")
    // For its owner alone, whatever the umask: it may be a data folder.
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// The path of something in the folder.
  public func file(_ name: String) -> String { url.appending(path: name).path }
}

/// Calls `body` with the path of a folder that is not there yet, and removes what it has become.
public func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
  let parent = try TestFolder()
  defer { withExtendedLifetime(parent) {} }
  return try await body(parent.file("data"))
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
