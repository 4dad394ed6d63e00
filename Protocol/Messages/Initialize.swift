// SPDX-License-Identifier: Apache-2.0

/// Agrees on a protocol version; optional, and allowed at any time.
public enum Initialize {
  public static let method: StaticString = "initialize"

  /// The versions that this program speaks, the newest first.
  public static let supportedVersions = ["1"]

  /// - Shape: `{"protocolVersion"?: String, "client"?: {"name": String, "version"?: String}}`
  public struct Params: Codable, Sendable {
    /// The version that the client wants; absent: the newest.
    public var protocolVersion: String?
    public var client: Program?
  }

  /// - Shape: `{"protocolVersion": String, "server": {"name": String, "version": String | null}}`
  public struct Result: Codable, Sendable {
    public var protocolVersion: String
    public var server: Program

    public init(protocolVersion: String, server: Program) {
      self.protocolVersion = protocolVersion
      self.server = server
    }
  }

  /// The name of a program at one end, for logs.
  public struct Program: Codable, Sendable {
    public var name: String
    public var version: String?

    public init(name: String, version: String?) {
      self.name = name
      self.version = version
    }
  }
}
