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

  /// The name of the error; nil if this protocol does not define it.
  public var name: String? { Self.described.first { $0.code == self }?.name }

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
        .observer, "Observer", "The client is an observer, which cannot change anything."),
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
      Description(
        .forbidden, "Forbidden", "The store kind refuses this use of the store to this client.",
        data: ForbiddenData.self),
    ]
  }

  /// The errors that every request can have.
  public static let ofAllMethods: [RPCErrorCode] = [
    .invalidRequest, .invalidParams, .internalError, .requestCancelled, .limit, .unauthorised,
  ]

  /// The errors of requests about the session of their connection.
  static let ofSessionMethods: [RPCErrorCode] = [.expiredSession]
  /// The errors of requests about a store.
  static let ofStoreMethods = ofSessionMethods + [.unknownStore, .storeClosed]
  /// The errors of requests about a store that also open a store on first use.
  static let ofOpeningMethods = ofStoreMethods + [.observer, .forbidden]
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

/// The reason of a store kind for a refusal.
///
/// - Shape: `{"reason": String}`
public enum ForbiddenData: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .object([
      .member("reason", .string())
    ])
  }
}

/// The names of the limits.
///
/// `Scripts/reference` writes the comments of the cases to docs/reference/limits.md: `Option` sets
/// the limit, `Effect` is the consequence of exceeding it.
public enum LimitName: String, CaseIterable, Sendable, JSONDescribed {
  /// The size of a frame, or of a WebSocket message.
  ///
  /// - Option: `--maximum-frame-bytes`
  /// - Effect: The server skips the frame, responds with `id: null`, and reads the next one.
  case frameBytes
  /// The depth to which arrays and objects of a frame nest.
  ///
  /// - Option: `--maximum-depth`
  /// - Effect: The server skips the frame, responds with `id: null`, and reads the next one. The
  ///   deeper part is not checked for being JSON.
  case nesting
  /// The number of requests in a batch.
  ///
  /// - Option: `--maximum-batch-length`
  /// - Effect: The server executes no request of the batch, and responds with `id: null`.
  case batchLength
  /// The requests of a connection whose effects are running, or that wait for them.
  ///
  /// - Option: `--maximum-open-requests`
  /// - Effect: The input is refused temporarily: it keeps its place in the order of
  ///   `sequence`.
  case openRequests
  /// The bytes that wait for one client to read them.
  ///
  /// - Option: `--maximum-outbox-bytes`
  /// - Effect: A request whose result is longer is refused, and so is a request in a batch whose
  ///   other responses take as much. If more bytes wait after the frame that is being sent, the
  ///   server closes the connection without notice.
  case outboxBytes
  /// The bytes that all connections hold of unfinished frames and of output that waits to be
  /// read. One identity has half of them. Buffers up to 16 KiB do not count.
  ///
  /// - Option: `--maximum-buffer-bytes`
  /// - Effect: The server skips the frame that has begun (`id: null`), or refuses the request in
  ///   a batch. It closes a connection for which more than 256 KiB wait.
  case bufferBytes
  /// The rate of `store/send`, `store/open`, `session/open` and `rpc.discover` of one connection,
  /// each request in a batch and each notification included.
  ///
  /// - Option: `--maximum-inputs-per-second`
  /// - Effect: The request is refused temporarily: an input keeps its place in the order of
  ///   `sequence`.
  case inputsPerSecond
  /// The size of the title of a todo.
  ///
  /// - Option: `--maximum-title-bytes`
  /// - Effect: The input is refused; `data.path` points to the title. A title above 4,096 bytes
  ///   is -32602.
  case titleBytes
  /// The size of an entry of a form.
  ///
  /// - Option: `--maximum-field-bytes`
  /// - Effect: The input is refused; `data.path` points to the entry. An entry above 64 KiB is
  ///   -32602.
  case fieldBytes
  /// The number of todos in one list.
  ///
  /// - Option: `--maximum-todos-per-list`
  /// - Effect: The input, or the `store/open` of a list in memory, is refused, and the list is
  ///   unchanged. For a list in the database the response has the error if it was not sent
  ///   before, as with `settle`; otherwise the state becomes `error`.
  case todosPerList
  /// The bytes of one list: ids, titles, and 16 bytes for each todo.
  ///
  /// - Option: `--maximum-todo-bytes-per-list`
  /// - Effect: As `todosPerList`. Inputs that add nothing to the size are not refused.
  case todoBytesPerList
  /// The number of todos in all lists of the database.
  ///
  /// - Option: `--maximum-todos-per-database`
  /// - Effect: As `todosPerList`.
  case todosPerDatabase
  /// The bytes of all lists of the database; the name of each list and 16 bytes for each list
  /// count as well.
  ///
  /// - Option: `--maximum-todo-bytes-per-database`
  /// - Effect: As `todosPerList`.
  case todoBytesPerDatabase
  /// The number of todos in all lists in memory of one session.
  ///
  /// - Option: `--maximum-todos-per-session`
  /// - Effect: As `todosPerList`.
  case todosPerSession
  /// The bytes of all lists in memory of one session.
  ///
  /// - Option: `--maximum-todo-bytes-per-session`
  /// - Effect: As `todosPerList`.
  case todoBytesPerSession
  /// The number of todos in all lists in memory of one identity.
  ///
  /// - Option: `--maximum-todos-per-identity`
  /// - Effect: As `todosPerList`.
  case todosPerIdentity
  /// The bytes of all lists in memory of one identity.
  ///
  /// - Option: `--maximum-todo-bytes-per-identity`
  /// - Effect: As `todosPerList`.
  case todoBytesPerIdentity
  /// The number of todos in all lists in memory of the server.
  ///
  /// - Option: `--maximum-todos`
  /// - Effect: As `todosPerList`.
  case todos
  /// The bytes of all lists in memory of the server.
  ///
  /// - Option: `--maximum-todo-bytes`
  /// - Effect: As `todosPerList`.
  case todoBytes
  /// The number of named stores of a session, including closed stores.
  ///
  /// - Option: `--maximum-stores`
  /// - Effect: The store is not opened.
  case storesPerSession
  /// The size of the name of a store: 256 bytes.
  ///
  /// - Effect: The store is not opened.
  case storeNameBytes
  /// The number of sessions in memory that outlive their connections. Sleeping ones do not count.
  ///
  /// - Option: `--maximum-sessions`
  /// - Effect: A session without a participant and without work sleeps (`--sleep-after`). If none
  ///   can, of the identity that has most sessions the newest one without a participant ends, those
  ///   without stores first. If each has a participant, the request is refused and the session gets
  ///   no handle.
  case sessions
  /// The number of sessions in memory of one identity that outlive their connections.
  ///
  /// - Option: `--maximum-sessions-per-identity`
  /// - Effect: A session of the identity without a participant and without work sleeps. If none can,
  ///   the session gets no handle.
  case sessionsPerIdentity
  /// The number of frontend names that one session remembers.
  ///
  /// - Option: `--maximum-frontend-names`
  /// - Effect: The client gets no name, and the request is refused.
  case frontendNames
  /// The size of a frontend name: 256 bytes.
  ///
  /// - Effect: The client gets no name, and the request is refused.
  case frontendNameBytes
  /// The bytes of configurations, states and stored updates of one session, configurations and
  /// states counted twice, lists not counted.
  ///
  /// - Option: `--maximum-bytes-per-session`
  /// - Effect: The input or the `store/open` is refused. Closing a store frees its bytes.
  case bytesPerSession
  /// The bytes of configurations, states and stored updates of all sessions of one identity, counted
  /// as in `bytesPerSession`.
  ///
  /// - Option: `--maximum-bytes-per-identity`
  /// - Effect: As `bytesPerSession`; a session that holds at most 16 KiB is nevertheless served.
  case bytesPerIdentity
  /// The bytes of configurations, states and stored updates of all sessions of the server, counted as
  /// in `bytesPerSession`.
  ///
  /// - Option: `--maximum-bytes`
  /// - Effect: As `bytesPerIdentity`.
  case bytes
  /// The number of connections, lower if the process may open fewer files (`ulimit -n`).
  ///
  /// - Option: `--maximum-connections`
  /// - Effect: The server closes the oldest connection that has sent nothing or has not shown its
  ///   token. If there is none, it closes the new connection after an error with `id: null`;
  ///   without an error while 64 other connections are being refused.
  case connections
  /// The number of connections from one address; an IPv6 network of 64 bits is one address.
  ///
  /// - Option: `--maximum-connections-per-address`
  /// - Effect: The server closes the new connection after an error with `id: null`.
  case connectionsPerAddress
  /// The number of connections of one identity.
  ///
  /// - Option: `--maximum-connections-per-identity`
  /// - Effect: `initialize` is refused, and the server closes the connection.
  case connectionsPerIdentity
  /// The time to the first whole message of a connection, or to its token where the server asks
  /// for one. It begins again when a WebSocket opens.
  ///
  /// - Option: `--time-to-first-request`
  /// - Effect: The server closes the connection after an error with `id: null`. Standard input
  ///   and output have no such limit.
  case timeToFirstRequest
  /// The time from the first byte of a frame to its last.
  ///
  /// - Option: `--frame-time`
  /// - Effect: The server closes the connection after an error with `id: null`. Standard input
  ///   and output have no such limit.
  case frameTime
  /// The time without a whole message, while no request of the connection is in progress.
  ///
  /// - Option: `--idle-time`
  /// - Effect: The server closes the connection after an error with `id: null`.
  case idleTime

  // Open, because a server may get another limit at any time.
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .oneOf(names: allCases.map(\.rawValue)).open
  }
}
