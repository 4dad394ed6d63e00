// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

extension RPCErrorCode {
  /// The description of an error for `rpc.discover`.
  public struct Description {
    /// The number of the error.
    public let code: RPCErrorCode
    /// The name of the error.
    public let name: String
    /// The meaning, in one sentence.
    public let summary: String
    /// The type of `data`; nil if the error has none.
    public let data: Any.Type?

    init(_ code: RPCErrorCode, _ name: String, _ summary: String, data: Any.Type? = nil) {
      self.code = code
      self.name = name
      self.summary = summary
      self.data = data
    }
  }

  /// The descriptions of all errors.
  public static var described: [Description] {
    [
      Description(.parseError, "ParseError", "The frame is not JSON."),
      Description(
        .invalidRequest, "InvalidRequest",
        "The frame is JSON but not a request, or the request was sent after shutdown."),
      Description(
        .methodNotFound, "MethodNotFound",
        "The method does not exist, or this server does not provide it."),
      Description(
        .invalidParams, "InvalidParams",
        "The params are not valid for the method, or the input is not valid for the store.",
        data: InvalidParamsData.self),
      Description(.internalError, "InternalError", "An internal error of the server."),
      Description(
        .requestCancelled, "RequestCancelled",
        "The request was cancelled, or the server shut down before the request was complete."),
      Description(
        .unknownStore, "UnknownStore", "No store has this name, and no store kind has it either."),
      Description(.storeClosed, "StoreClosed", "The store was closed."),
      Description(
        .unknownSession, "UnknownSession",
        "No session has or had this handle."),
      Description(.expiredSession, "ExpiredSession", "The session has ended."),
      Description(
        .observer, "Observer", "The frontend is an observer, which cannot change anything."),
      Description(.limit, "Limit", "A limit was exceeded.", data: LimitData.self),
      Description(
        .unauthorised, "Unauthorised",
        "The client sent no token or a wrong one, or it is not allowed to connect."),
      Description(
        .protocolVersion, "ProtocolVersion", "The protocol version is not supported.",
        data: ProtocolVersionData.self),
      Description(
        .otherConfiguration, "OtherConfiguration",
        "The store is open with another kind or configuration."),
      Description(
        .outOfOrder, "OutOfOrder",
        "An earlier input was refused temporarily and has not been sent again.",
        data: OutOfOrderData.self),
    ]
  }

  /// The errors that every request can have.
  public static let ofAllMethods: [RPCErrorCode] = [
    .invalidRequest, .invalidParams, .internalError, .limit, .unauthorised,
  ]

  /// The errors of requests about the session of their connection.
  static let ofSessionMethods: [RPCErrorCode] = [.expiredSession]
  /// The errors of requests about a store; such a request also opens a store that opens on demand.
  static let ofStoreMethods = ofSessionMethods + [.unknownStore, .storeClosed, .observer]
}

/// The position of the fault.
///
/// - Shape: `{"path": String}`, a JSON Pointer into the params.
public enum InvalidParamsData: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .object([
      .member("path", .string())
    ])
  }
}

/// The limit that was exceeded.
///
/// - Shape: `{"limit": LimitName, "path"?: String}`; `path` is present if a value in the params
///   exceeds the limit.
public enum LimitData: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    .object([
      .member("limit", try schemas.schema(of: LimitName.self)),
      .omissible("path", .string()),
    ])
  }
}

/// The supported protocol versions.
///
/// - Shape: `{"supported": [String]}`
public enum ProtocolVersionData: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .object([
      .member("supported", .array(of: .string()))
    ])
  }
}

/// The input that has to be sent first.
///
/// - Shape: `{"sequence": Int}`
public enum OutOfOrderData: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .object([
      .member("sequence", .integer(minimum: 1))
    ])
  }
}

/// The names of the limits.
public enum LimitName: String, CaseIterable, Sendable, JSONDescribed {
  /// Limits of frames, connections' buffers and input rates.
  case frameBytes, nesting, batchLength, openRequests, outboxBytes, bufferBytes, inputsPerSecond
  /// Limits of single texts.
  case titleBytes, fieldBytes
  /// Quotas of todos: number and bytes per list and per database.
  case todosPerList, todoBytesPerList, todosPerDatabase, todoBytesPerDatabase
  /// Quotas of todos: number and bytes per session and per identity.
  case todosPerSession, todoBytesPerSession, todosPerIdentity, todoBytesPerIdentity
  /// Quotas of todos: number and bytes of the whole server.
  case todos, todoBytes
  /// Limits of stores and sessions.
  case storesPerSession, storeNameBytes, sessions, sessionsPerIdentity
  /// Limits of frontends' names.
  case frontendNames, frontendNameBytes
  /// Limits of memory, in bytes.
  case bytesPerSession, bytesPerIdentity, bytes
  /// Limits of connections.
  case connections, connectionsPerAddress, connectionsPerIdentity
  /// Limits of time.
  case timeToFirstRequest, frameTime, idleTime

  // Open, because a server may get another limit at any time.
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .oneOf(names: allCases.map(\.rawValue)).open
  }
}

extension JSONError.Code {
  /// Creates the code of a value that is well formed but exceeds a limit of the server.
  public init(_ limit: LimitName) { self.init(limit: limit.rawValue) }
}
