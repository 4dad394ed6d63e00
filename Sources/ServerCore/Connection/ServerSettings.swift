// SPDX-License-Identifier: Apache-2.0

public import Logging
public import StatewireProtocol

/// The settings that all connections of a server share.
///
/// It is a class, so that thousands of connections share one object.
public final class ServerSettings: Sendable {
  /// The limits of each connection.
  public let limits: ServerLimits
  /// The logger of all connections.
  public let logger: Logger
  /// The name and version in the response to `initialize`.
  public let program: Initialize.Program
  /// The accepted tokens; nil: the server accepts clients without a token.
  public let credentials: Credentials?
  /// The settings of a node among others; nil if this is the only node.
  public let nodes: NodeSettings?
  /// Begins the spans of inputs; nil: inputs are not traced.
  public let tracer: (any InputTracer)?
  /// The clock for rates and for the length of turns.
  public let now: @Sendable () -> ContinuousClock.Instant

  /// The name of the program.
  public var programName: String { program.name }
  /// The version of the program; empty if it has none.
  public var programVersion: String { program.version ?? "" }

  /// Creates settings; by default, clients need no token.
  public init(
    limits: ServerLimits = .init(), logger: Logger = Logger(label: "statewire"),
    program: Initialize.Program = .init(name: "statewire", version: nil),
    credentials: Credentials? = nil, nodes: NodeSettings? = nil, tracer: (any InputTracer)? = nil,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.limits = limits
    self.logger = logger
    self.program = program
    self.credentials = credentials
    self.nodes = nodes
    self.tracer = tracer
    self.now = now
  }
}

/// The limits of clients and of all connections together.
public struct ServerLimits: Sendable {
  /// Maximum length of one message without its framing, in bytes.
  public var frameBytes = 1 << 20
  /// Maximum nesting of arrays and objects in a message.
  public var depth = 128
  /// Maximum number of requests in one batch.
  public var batchLength = 1000
  /// Maximum number of requests of one connection whose effects have not ended.
  public var openRequests = 10_000
  /// Maximum number of bytes that wait for one client to read them; above it, the connection is
  /// closed.
  public var outboxBytes = 64 << 20
  /// Maximum memory of all connections for incomplete frames and for output that clients have not
  /// read, in bytes. One identity uses at most half of it.
  public var bufferBytes = 96 << 20
  /// Maximum number of connections.
  public var connections = 10_000
  /// Maximum number of refused connections that receive an error at the same time. Any more are
  /// closed immediately without an error, so that they do not use up file descriptors.
  public var refusedConnections = 64
  /// Maximum number of connections from one address; an IPv6 /64 network counts as one address.
  /// Nil: 256, and `connections` from a loopback address.
  public var connectionsPerAddress: Int?
  /// Maximum number of connections of one identity; nil: half of `connections`.
  public var connectionsPerIdentity: Int?
  /// Maximum number of inputs of one connection in a second; nil: no limit.
  public var inputsPerSecond: Int?
  /// Maximum number of bytes that are read from one connection in a second; nil: no limit.
  public var bytesPerSecond: Int?
  /// Maximum time to the first message of a client, or to a valid token on a server with tokens;
  /// nil: no limit. It does not apply to standard input.
  public var timeToFirstRequest: Duration? = .seconds(10)
  /// Maximum time from the first to the last byte of a frame; nil: no limit. It does not apply to
  /// standard input.
  public var frameTime: Duration? = .seconds(60)
  /// Maximum time without a message while no request of the client is in progress; nil: no limit.
  public var idleTime: Duration?
  /// Maximum time that a client may leave waiting output unread; nil: no limit.
  public var unreadTime: Duration? = .seconds(30)
  /// Time without bytes from a WebSocket client after which the server sends a ping. After the same
  /// time again the connection is closed. Nil: no pings.
  public var pingTime: Duration? = .seconds(30)

  /// Creates the default limits.
  public init() {}

  /// Returns the maximum number of connections from one address, with the default applied.
  ///
  /// - Parameter isLoopback: True for a loopback address. Its default is `connections`, because
  ///   local users can exhaust the machine in other ways, too.
  public func connectionsPerAddress(isLoopback: Bool) -> Int {
    connectionsPerAddress ?? (isLoopback ? connections : 256)
  }

  /// The maximum number of connections of one identity, with the default applied.
  public var connectionsOfOneIdentity: Int { connectionsPerIdentity ?? max(1, connections / 2) }
}
