// SPDX-License-Identifier: Apache-2.0

public import Logging
public import StatewireProtocol

/// What all connections of a server have in common.
public struct ServerSettings: Sendable {
  public var limits: ServerLimits
  public var logger: Logger
  /// What `initialize` calls this program.
  public var program: Initialize.Program

  public init(
    limits: ServerLimits = .init(), logger: Logger = Logger(label: "statewire"),
    program: Initialize.Program = .init(name: "statewire", version: nil)
  ) {
    self.limits = limits
    self.logger = logger
    self.program = program
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
  /// How many connections there may be in all.
  public var connections = 10_000

  public init() {}
}
