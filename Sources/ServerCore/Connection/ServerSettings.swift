// SPDX-License-Identifier: Apache-2.0

public import Logging
public import StatewireProtocol

/// What all connections of a server have in common; one object, since there may be thousands of them.
public final class ServerSettings: Sendable {
  public let limits: ServerLimits
  public let logger: Logger
  /// What `initialize` calls this program.
  public let program: Initialize.Program
  /// The tokens that peers must show one of; nil: everybody is served.
  public let credentials: Credentials?
  /// What rates are measured by.
  public let now: @Sendable () -> ContinuousClock.Instant

  public init(
    limits: ServerLimits = .init(), logger: Logger = Logger(label: "statewire"),
    program: Initialize.Program = .init(name: "statewire", version: nil),
    credentials: Credentials? = nil,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.limits = limits
    self.logger = logger
    self.program = program
    self.credentials = credentials
    self.now = now
  }
}

/// What one peer may use.
public struct ServerLimits: Sendable {
  /// - Units: bytes of one message, without its framing.
  public var frameBytes = 1 << 20
  /// How deep arrays and objects of a message may nest.
  public var depth = 128
  /// How many requests one batch may hold.
  public var batchLength = 1000
  /// How many requests of one connection may have effects running or wait for them.
  public var openRequests = 10_000
  /// - Units: bytes that wait for one peer to read them, before it is closed.
  public var outboxBytes = 64 << 20
  /// What all connections may hold of frames that have not ended and of what waits for peers; one identity has at
  /// most half of it.
  /// - Units: bytes.
  public var bufferBytes = 96 << 20
  /// How many connections there may be in all.
  public var connections = 10_000
  /// How many connections that are refused are told why at the same time; any more are closed at once, without a
  /// reason, so that they cannot take the descriptors of the others.
  public var refusedConnections = 64
  /// How many connections there may be from one address, an IPv6 network of 64 bits counting as one;
  /// nil: 256, and from this machine as many as in all.
  public var connectionsPerAddress: Int?
  /// How many connections one identity may have; nil: half of all.
  public var connectionsPerIdentity: Int?
  /// How many inputs one connection may send in a second; nil: as many as it can.
  public var inputsPerSecond: Int?
  /// How many bytes are read from one connection in a second; nil: as many as come.
  public var bytesPerSecond: Int?
  /// How long a peer may take to its first message, where tokens are asked for to a good one; nil:
  /// for ever. Standard input is not meant.
  public var timeToFirstRequest: Duration? = .seconds(10)
  /// How long a frame may take from when it has begun until it is whole; nil: for ever. Standard input
  /// is not meant.
  public var frameTime: Duration? = .seconds(60)
  /// How long a peer may send no message while nothing of its is being worked on; nil: for ever.
  public var idleTime: Duration?
  /// How long a peer may leave what waits for it unread; nil: any time.
  public var unreadTime: Duration? = .seconds(30)
  /// How long the peer at a WebSocket may be silent before it is pinged; as long again, and it is
  /// closed. Nil: nobody is pinged.
  public var pingTime: Duration? = .seconds(30)

  public init() {}

  /// How many connections there may be from one address, whatever was said about it.
  ///
  /// - Parameter isLoopback: Whether that is this machine's own, whose users have other ways to take
  ///   what the others need.
  public func connectionsPerAddress(isLoopback: Bool) -> Int {
    connectionsPerAddress ?? (isLoopback ? connections : 256)
  }

  /// How many connections one identity may have, whatever was said about it: by default there is room for others.
  public var connectionsOfOneIdentity: Int { connectionsPerIdentity ?? max(1, connections / 2) }
}
