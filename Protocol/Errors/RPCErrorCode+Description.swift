// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

extension RPCErrorCode {
  /// An error, described for programs.
  public struct Description {
    public let code: RPCErrorCode
    public let name: String
    /// What it means, in one sentence.
    public let summary: String
    /// What `data` is written as; nil: there is none.
    public let data: Any.Type?

    init(_ code: RPCErrorCode, _ name: String, _ summary: String, data: Any.Type? = nil) {
      self.code = code
      self.name = name
      self.summary = summary
      self.data = data
    }
  }

  /// Every error.
  public static var described: [Description] {
    [
      Description(.parseError, "ParseError", "The frame is no JSON."),
      Description(
        .invalidRequest, "InvalidRequest",
        "The frame is JSON and no request, or the request came after shutdown."),
      Description(
        .methodNotFound, "MethodNotFound", "There is no such method, or not on this server."),
      Description(
        .invalidParams, "InvalidParams",
        "The params are not those of the method, or the input not one of the store.",
        data: InvalidParamsData.self),
      Description(.internalError, "InternalError", "The server made a mistake."),
      Description(
        .requestCancelled, "RequestCancelled",
        "The request was cancelled, or the server ended before it was done."),
      Description(
        .unknownStore, "UnknownStore", "No store has this name, and no kind either."),
      Description(.storeClosed, "StoreClosed", "The store was closed."),
      Description(
        .unknownSession, "UnknownSession",
        "There is no session with this handle, and there never was."),
      Description(.expiredSession, "ExpiredSession", "The session is over."),
      Description(
        .observer, "Observer", "The frontend is an observer, which changes nothing."),
      Description(.limit, "Limit", "A limit was met.", data: LimitData.self),
      Description(
        .unauthorised, "Unauthorised",
        "The peer has shown no token, a wrong one, or is nobody who may connect."),
      Description(
        .protocolVersion, "ProtocolVersion", "The protocol version is not supported.",
        data: ProtocolVersionData.self),
      Description(
        .otherConfiguration, "OtherConfiguration",
        "The store is open with another kind or configuration."),
      Description(
        .outOfOrder, "OutOfOrder",
        "An input before this one was refused for the moment, and has not come again.",
        data: OutOfOrderData.self),
    ]
  }

  /// What any request can be refused with.
  public static let ofAllMethods: [RPCErrorCode] = [
    .invalidRequest, .invalidParams, .internalError, .limit, .unauthorised,
  ]

  /// What a request can be refused with that is about the session of its connection.
  static let ofSessionMethods: [RPCErrorCode] = [.expiredSession]
  /// What a request can be refused with that is about a store, opening those that open by themselves.
  static let ofStoreMethods = ofSessionMethods + [.unknownStore, .storeClosed, .observer]
}

/// Where the fault is.
///
/// - Shape: `{"path": String}`, a JSON Pointer into the params.
public enum InvalidParamsData: JSONDescribed {
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .object([
      .member("path", .string())
    ])
  }
}

/// Which limit was met.
///
/// - Shape: `{"limit": LimitName, "path"?: String}`; the path where a value in the params is too much.
public enum LimitData: JSONDescribed {
  public static func schema(in schemas: JSONSchemas) throws -> JSONSchema {
    .object([
      .member("limit", try schemas.schema(of: LimitName.self)),
      .omissible("path", .string()),
    ])
  }
}

/// Which versions there are.
///
/// - Shape: `{"supported": [String]}`
public enum ProtocolVersionData: JSONDescribed {
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .object([
      .member("supported", .array(of: .string()))
    ])
  }
}

/// Which input has to come first.
///
/// - Shape: `{"sequence": Int}`
public enum OutOfOrderData: JSONDescribed {
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .object([
      .member("sequence", .integer(minimum: 1))
    ])
  }
}

/// The names of the limits.
public enum LimitName: String, CaseIterable, Sendable, JSONDescribed {
  case frameBytes, nesting, batchLength, openRequests, outboxBytes, bufferBytes, inputsPerSecond
  case titleBytes, fieldBytes
  case todosPerList, todoBytesPerList, todosPerDatabase, todoBytesPerDatabase
  case todosPerSession, todoBytesPerSession, todosPerIdentity, todoBytesPerIdentity
  case todos, todoBytes
  case storesPerSession, storeNameBytes, sessions, sessionsPerIdentity
  case frontendNames, frontendNameBytes
  case bytesPerSession, bytesPerIdentity, bytes
  case connections, connectionsPerAddress, connectionsPerIdentity
  case timeToFirstRequest, frameTime, idleTime

  // A server may get another limit at any time.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .oneOf(names: allCases.map(\.rawValue)).open
  }
}

extension JSONError.Code {
  /// The code of what could be read, and is more than a limit of the server allows.
  public init(_ limit: LimitName) { self.init(limit: limit.rawValue) }
}
