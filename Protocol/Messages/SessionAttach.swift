// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Attaches the connection to an existing session and brings its client up to date.
///
/// The updates that the client missed are sent after the response. For all other requests, the
/// updates that a request causes precede its response.
public enum SessionAttach {
  /// The name of the method.
  public static let method: StaticString = "session/attach"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Attaches the connection to an existing session and brings its client up to date.",
      params: Params.self, result: Result.self,
      errors: RPCErrorCode.ofSessionMethods
        + [.unknownSession, .unknownStore, .observer, .forbidden])
  }

  /// The parameters of `session/attach`.
  ///
  /// - Shape: `{"session": String, "frontend"?: String, "role"?: Role, "revisions"?: {store:
  ///   Int | null}}`
  public struct Params: Codable, Sendable {
    /// The handle of the session.
    public var session: String
    /// The client's name in the session. The server closes an older connection with the same
    /// name.
    public var frontend: String?
    /// The role of the client; `driver` if absent.
    public var role: FrontendRole?
    /// The stores to subscribe to, each with the revision that the client has.
    public var revisions: Revisions?
  }

  /// The revision that the client has of each store, by the store's name; nil for none.
  ///
  /// - Shape: `{store: Int | null}`
  public struct Revisions: Codable, Sendable {
    /// The revisions; the last of several members with the same name counts.
    public var held: [(store: String, revision: Int?)] = []

    /// Decodes the value from JSON; the type documents its shape.
    ///
    /// - Throws: `DecodingError` or `JSONError` with the path of the fault.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: Name.self)
      // Names are compared by their bytes: canonically equivalent names are different stores.
      var seen: Set<[UInt8]> = []
      held = try members.allKeys.compactMap { name in
        guard seen.insert(Array(name.stringValue.utf8)).inserted else { return nil }
        let revision = try members.decode(Int?.self, forKey: name)
        guard revision ?? 0 >= 0 else {
          throw DecodingError.dataCorruptedError(
            forKey: name, in: members, debugDescription: "a revision is at least 0")
        }
        return (name.stringValue, revision)
      }
    }

    /// Encodes the value as JSON; the type documents its shape.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: Name.self)
      for (store, revision) in held { try members.encode(revision, forKey: Name(store)) }
    }

    private struct Name: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(_ name: String) { stringValue = name }
      init?(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
  }

  /// The result of `session/attach`.
  ///
  /// - Shape: `{"stores": {store: StoreResult}, "sequence": Int | null}`
  public enum Result: JSONDescribed {
    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
      .object([
        .member("stores", .map(of: try schemas.schema(of: StoreResult.self))),
        .member("sequence", JSONSchema.integer().orNull),
      ])
    }
  }

  /// The changes of one store that a client missed.
  ///
  /// - Shape: `{"replayed": Int}`, `{"snapshot": Snapshot, "reason": SnapshotReason,
  ///   "cause"?: ReopeningCause}` or
  ///   `{"closed": "closed"}`, each with `"keptAside"?: KeptAside`
  public enum StoreResult: JSONDescribed {
    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
      let keptAside = JSONSchema.Member.omissible(
        "keptAside", try schemas.schema(of: KeptAside.self))
      return .oneOf([
        .object([.member("replayed", .integer(minimum: 0)), keptAside])
          .titled("SessionAttachReplayed"),
        .object([
          .member("snapshot", try schemas.schema(of: Snapshot.self)),
          .member("reason", try schemas.schema(of: SnapshotReason.self)),
          .omissible("cause", try schemas.schema(of: ReopeningCause.self)), keptAside,
        ]).titled("SessionAttachSnapshotTaken"),
        .object([.member("closed", try schemas.schema(of: StoreClosed.Reason.self)), keptAside])
          .titled("SessionAttachClosed"),
      ])
    }
  }

  /// A state and its revision.
  ///
  /// - Shape: `{"revision": Int, "state": any}`
  public enum Snapshot: JSONDescribed {
    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) -> JSONSchema {
      .object([
        .member("revision", .integer(minimum: 0)),
        .member("state", .viewState),
      ])
    }
  }

  /// A state that the server could not read when it restored the store, and keeps aside.
  ///
  /// - Shape: `{"revision": Int, "reason": String}`
  public enum KeptAside: JSONDescribed {
    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) -> JSONSchema {
      .object([
        .member("revision", .integer(minimum: 0)),
        .member("reason", .string()),
      ])
    }
  }

  /// The reason why a snapshot was sent instead of updates.
  public enum SnapshotReason: String, Codable, Sendable {
    /// The client has no state.
    case none
    /// The updates that it missed are no longer kept.
    case trimmed
    /// The client has a revision that does not exist yet.
    case ahead
    /// The store was closed and opened again in the meantime, or `ReopeningCause` is given.
    case reopened
    /// The state of that revision has been redacted in the meantime.
    case redacted
  }
}

extension SessionAttach {
  /// The cause why the server, and no client, has opened the store again.
  public enum ReopeningCause: String, Codable, Sendable {
    /// A newer version of the server has converted the state.
    case migrated
    /// The server could not read the state, and keeps it aside.
    case unreadable
    /// The operator has put an earlier state back.
    case restored
  }
}

/// The role of a client in its session.
public enum FrontendRole: String, Codable, Sendable {
  /// The client sends inputs.
  case driver
  /// The client only receives updates.
  case observer
}

extension SessionAttach.Revisions: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .map(of: JSONSchema.integer(minimum: 0).orNull)
  }
}
