// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Makes the connection one of a session that was opened before, and brings it up to date.
///
/// The one answer that comes before its frames: the missed frames follow it.
public enum SessionAttach {
  public static let method: StaticString = "session/attach"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Makes the connection one of another session, and brings it up to date.",
      params: Params.self, result: Result.self,
      errors: RPCErrorCode.ofSessionMethods + [.unknownSession, .unknownStore, .observer])
  }

  /// - Shape: `{"session": String, "frontend"?: String, "role"?: Role, "revisions"?: {store:
  ///   Int | null}}`
  public struct Params: Codable, Sendable {
    public var session: String
    /// The frontend's name in the session; an older connection of that name is ended.
    public var frontend: String?
    /// Absent: `driver`.
    public var role: FrontendRole?
    /// The stores to subscribe to, each with the revision that the frontend holds.
    public var revisions: Revisions?
  }

  /// The revision held of each store, by the store's name; nil for none.
  public struct Revisions: Codable, Sendable {
    /// Of several members with one name the last one counts.
    public var held: [(store: String, revision: Int?)] = []

    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: Name.self)
      // By their bytes: two names that only look alike are two stores.
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

  /// - Shape: `{"stores": {store: Answer}, "sequence": Int | null}`
  public enum Result: JSONDescribed {
    public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
      .object([
        .member("stores", .map(of: try schemas.schema(of: Answer.self))),
        .member("sequence", JSONSchema.integer().orNull),
      ])
    }
  }

  /// What a frontend has missed of one store.
  ///
  /// - Shape: `{"replayed": Int}`, `{"snapshot": Snapshot, "reason": SnapshotReason}` or
  ///   `{"closed": "closed"}`
  public enum Answer: JSONDescribed {
    public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
      .oneOf([
        .object([.member("replayed", .integer(minimum: 0))]).titled("SessionAttachReplayed"),
        .object([
          .member("snapshot", try schemas.schema(of: Snapshot.self)),
          .member("reason", try schemas.schema(of: SnapshotReason.self)),
        ]).titled("SessionAttachSnapshotTaken"),
        .object([.member("closed", try schemas.schema(of: StoreClosed.Reason.self))])
          .titled("SessionAttachClosed"),
      ])
    }
  }

  /// - Shape: `{"revision": Int, "state": any}`
  public enum Snapshot: JSONDescribed {
    public static func schema(in schemas: JSONSchemas) -> JSONSchema {
      .object([
        .member("revision", .integer(minimum: 0)),
        .member("state", .viewState),
      ])
    }
  }

  /// Why a snapshot was given in place of frames.
  public enum SnapshotReason: String, Codable, Sendable {
    /// The frontend holds no state.
    case none
    /// The frames that it has missed are not kept any more.
    case trimmed
    /// It holds a revision that has not been yet.
    case ahead
    /// The store was closed and opened again since.
    case reopened
    /// What was shown then has been hidden since.
    case redacted
  }
}

/// What a frontend may do in its session.
public enum FrontendRole: String, Codable, Sendable {
  /// Sends inputs.
  case driver
  /// Watches.
  case observer
}

extension SessionAttach.Revisions: JSONDescribed {
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .map(of: JSONSchema.integer(minimum: 0).orNull)
  }
}
