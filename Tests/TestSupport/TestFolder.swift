// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A temporary folder that is removed with the last reference to this object.
public final class TestFolder: Sendable {
  public let url: URL
  public var path: String { url.path }

  public init() throws {
    // The name is short because the path of a Unix socket has at most about a hundred bytes.
    let name = String(UInt64.random(in: .min ... .max), radix: 36)
    url = FileManager.default.temporaryDirectory.appending(path: "statewire-\(name)")
    // Only the owner has access, independently of the umask, because it may be a data folder.
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// Returns the path of a file in the folder.
  public func file(_ name: String) -> String { url.appending(path: name).path }
}

/// Calls `body` with the path of a folder that does not exist yet, and then removes the folder.
public func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
  let parent = try TestFolder()
  defer { withExtendedLifetime(parent) {} }
  return try await body(parent.file("data"))
}

extension FileManager {
  /// Creates a folder to which only the owner has access, independently of the umask.
  public func makeFolder(_ path: String) throws {
    try createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  /// Returns the permission bits of a file or folder.
  public func permissions(_ path: String) throws -> Int? {
    try attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }
}
