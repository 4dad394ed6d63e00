// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Negotiates the protocol version and authenticates the client; optional, and allowed at any time.
public enum Initialize {
  /// The name of the method.
  public static let method: StaticString = "initialize"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method,
      "Negotiates the protocol version and authenticates the client where a token is required.",
      params: Params.self, result: Result.self, errors: [.protocolVersion])
  }

  /// The supported protocol versions, the newest first.
  public static let supportedVersions = ["1"]

  /// The parameters of `initialize`.
  ///
  /// - Shape: `{"protocolVersion"?: String, "client"?: {"name": String, "version"?: String},
  ///   "token"?: String}`
  public struct Params: Codable, Sendable {
    /// The version that the client requests; the newest one if absent.
    public var protocolVersion: String?
    /// The client's program, for logs.
    public var client: Program?
    /// The token that authenticates the client, if the server requires one.
    public var token: Token?
  }

  /// The result of `initialize`.
  ///
  /// - Shape: `{"protocolVersion": String, "server": {"name": String, "version": String | null},
  ///   "capabilities": {}, "limits": {"frameBytes": Int, "nesting": Int, "batchLength": Int}}`
  public struct Result: Codable, Sendable {
    /// The negotiated version.
    public var protocolVersion: String
    /// The server's program.
    public var server: Program
    /// An empty object, which clients of the Language Server Protocol require.
    public var capabilities: Capabilities
    /// The limits that a client can check before it sends.
    public var limits: Limits

    /// Creates a result.
    public init(protocolVersion: String, server: Program, limits: Limits) {
      self.protocolVersion = protocolVersion
      self.server = server
      self.capabilities = Capabilities()
      self.limits = limits
    }
  }

  /// The capabilities of the server, which are empty.
  ///
  /// - Shape: `{}`
  public struct Capabilities: Codable, Sendable {}

  /// The limits of a frame.
  ///
  /// A frame that exceeds `frameBytes` or `nesting` gets an error response whose id is null. A
  /// client that checks these limits first therefore knows which request would be refused.
  ///
  /// - Shape: `{"frameBytes": Int, "nesting": Int, "batchLength": Int}`
  public struct Limits: Codable, Sendable, Equatable {
    /// The greatest length of a frame.
    ///
    /// - Units: bytes, without the framing.
    public var frameBytes: Int
    /// The greatest nesting depth of arrays and objects in a frame.
    public var nesting: Int
    /// The most requests in one batch.
    public var batchLength: Int

    /// Creates limits.
    public init(frameBytes: Int, nesting: Int, batchLength: Int) {
      self.frameBytes = frameBytes
      self.nesting = nesting
      self.batchLength = batchLength
    }
  }

  /// A secret shared by its owner and the server; only `text` and its JSON contain it.
  ///
  /// - Shape: a string.
  public struct Token: Codable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The secret.
    public let text: String

    /// Creates a token.
    public init(_ text: String) { self.text = text }

    /// Decodes the value from JSON; the type documents its shape.
    ///
    /// - Throws: `DecodingError` or `JSONError` with the path of the fault.
    public init(from decoder: any Decoder) throws {
      text = try decoder.singleValueContainer().decode(String.self)
    }

    /// Encodes the value as JSON; the type documents its shape.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }

    /// The same text for every token, so that it shows neither the token nor its length.
    public var description: String { "(token)" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
  }

  /// The name of a client's or server's program, for logs.
  ///
  /// - Shape: `{"name": String, "version"?: String}`
  public struct Program: Codable, Sendable {
    /// The name of the program.
    public var name: String
    /// The version of the program.
    public var version: String?

    /// Creates the name of a program.
    public init(name: String, version: String?) {
      self.name = name
      self.version = version
    }
  }
}

extension Initialize.Token: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema { .string() }
}
