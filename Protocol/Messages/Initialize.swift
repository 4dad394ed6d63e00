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

  /// - Shape: `{"protocolVersion": String, "server": {"name": String, "version": String | null},
  ///   "capabilities": {}, "limits": {"frameBytes": Int, "nesting": Int, "batchLength": Int}}`
  public struct Result: Codable, Sendable {
    public var protocolVersion: String
    public var server: Program
    /// An empty object, which clients of the Language Server Protocol need.
    public var capabilities: Capabilities
    /// What a client can check before it sends.
    public var limits: Limits

    public init(protocolVersion: String, server: Program, limits: Limits) {
      self.protocolVersion = protocolVersion
      self.server = server
      self.capabilities = Capabilities()
      self.limits = limits
    }
  }

  /// - Shape: `{}`
  public struct Capabilities: Codable, Sendable {}

  /// The limits of a frame. A frame above `frameBytes` or `nesting` gets an error whose id is null, so a
  /// client that checks them first knows which request is refused.
  ///
  /// - Shape: `{"frameBytes": Int, "nesting": Int, "batchLength": Int}`
  public struct Limits: Codable, Sendable, Equatable {
    /// - Units: bytes of one frame, without its framing.
    public var frameBytes: Int
    /// How deep arrays and objects of a frame may nest.
    public var nesting: Int
    /// How many requests one batch may hold.
    public var batchLength: Int

    public init(frameBytes: Int, nesting: Int, batchLength: Int) {
      self.frameBytes = frameBytes
      self.nesting = nesting
      self.batchLength = batchLength
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
