// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Agrees on a protocol version; optional, and allowed at any time.
public enum Initialize {
  public static let method: StaticString = "initialize"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Agrees on a protocol version, and shows a token where one is asked for.",
      params: Params.self, result: Result.self, errors: [.protocolVersion])
  }

  /// The versions that this program speaks, the newest first.
  public static let supportedVersions = ["1"]

  /// - Shape: `{"protocolVersion"?: String, "client"?: {"name": String, "version"?: String},
  ///   "token"?: String}`
  public struct Params: Codable, Sendable {
    /// The version that the client wants; absent: the newest.
    public var protocolVersion: String?
    public var client: Program?
    /// Says who the client is, where the server asks for that.
    public var token: Token?
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

  /// What only its owner and the server know; nothing shows it but `text` and its JSON.
  ///
  /// - Shape: a string.
  public struct Token: Codable, Sendable, CustomStringConvertible, CustomReflectable {
    public let text: String

    public init(_ text: String) { self.text = text }

    public init(from decoder: any Decoder) throws {
      text = try decoder.singleValueContainer().decode(String.self)
    }

    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }

    /// The same for every token, its length included.
    public var description: String { "(token)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
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

extension Initialize.Token: JSONDescribed {
  public static func schema(in schemas: JSONSchemas) -> JSONSchema { .string() }
}
