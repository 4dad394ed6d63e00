// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BuiltinStores
import RemoteSources
import ServerCore
import Sessions
import StatewireProtocol

/// The limits of `statewire serve`.
///
/// The word after an option is its value, be it below zero: then the answer is what a limit is at
/// least, and not that the value is missing.
struct LimitOptions: ParsableArguments {
  @Option(parsing: .unconditional, help: "Bytes of one message.")
  var maximumFrameBytes = ServerLimits().frameBytes

  @Option(parsing: .unconditional, help: "How deep arrays and objects of a message may nest.")
  var maximumDepth = ServerLimits().depth

  @Option(parsing: .unconditional, help: "Requests in one batch.")
  var maximumBatchLength = ServerLimits().batchLength

  @Option(parsing: .unconditional, help: "Requests of one connection whose effects are running.")
  var maximumOpenRequests = ServerLimits().openRequests

  @Option(parsing: .unconditional, help: "Bytes that may wait for one peer to read them.")
  var maximumOutboxBytes = ServerLimits().outboxBytes

  @Option(
    parsing: .unconditional,
    help: "Bytes of frames that have not ended and of what waits to be read, of all connections.")
  var maximumBufferBytes = ServerLimits().bufferBytes

  @Option(parsing: .unconditional, help: "Connections in all.")
  var maximumConnections = ServerLimits().connections

  @Option(
    parsing: .unconditional,
    help: """
      Connections from one address, or one IPv6 network of 64 bits. (default: \
      \(ServerLimits().connectionsPerAddress(isLoopback: false)), from this machine any number)
      """)
  var maximumConnectionsPerAddress: Int?

  @Option(
    parsing: .unconditional,
    help: "Connections of one name in the token file. (default: half of all)")
  var maximumConnectionsPerIdentity: Int?

  @Option(
    parsing: .unconditional,
    help: "Inputs and opened stores of one connection in a second; 0: any number.")
  var maximumInputsPerSecond = ServerLimits().inputsPerSecond ?? 0

  @Option(
    parsing: .unconditional,
    help: "Bytes that are read from one connection in a second; 0: any number.")
  var maximumBytesPerSecond = ServerLimits().bytesPerSecond ?? 0

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Seconds to the first message of a connection, or to its token; 0: any time.",
      valueName: "seconds"))
  var timeToFirstRequest = LimitOptions.seconds(ServerLimits().timeToFirstRequest)

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Seconds that a frame may take from its beginning to its end; 0: any time.",
      valueName: "seconds"))
  var frameTime = LimitOptions.seconds(ServerLimits().frameTime)

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Seconds that a connection may send nothing and wait for nothing; 0: any time.",
      valueName: "seconds"))
  var idleTime = LimitOptions.seconds(ServerLimits().idleTime)

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Seconds that a peer may leave unread what waits for it; 0: any time.", valueName: "seconds"))
  var unreadTime = LimitOptions.seconds(ServerLimits().unreadTime)

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      """
      Seconds that a WebSocket may be silent before it is pinged, and again before it is closed; \
      0: any time.
      """, valueName: "seconds"))
  var pingTime = LimitOptions.seconds(ServerLimits().pingTime)

  @Option(parsing: .unconditional, help: "Stores of one session.")
  var maximumStores = SessionLimits().storesPerSession

  @Option(
    parsing: .unconditional,
    help: "Bytes that one session holds of configurations, states and frames, lists aside.")
  var maximumBytesPerSession = SessionLimits().bytesPerSession

  @Option(
    parsing: .unconditional,
    help: "The same for all sessions of one name in the token file. (default: half of all)")
  var maximumBytesPerIdentity: Int?

  @Option(parsing: .unconditional, help: "The same for all sessions.")
  var maximumBytes = SessionLimits().bytes

  @Option(parsing: .unconditional, help: "Sessions that outlive their connections.")
  var maximumSessions = SessionLimits().sessions

  @Option(
    parsing: .unconditional,
    help: "Sessions of one name in the token file. (default: as many as in all)")
  var maximumSessionsPerIdentity: Int?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Seconds that a session outlives the last of its connections.", valueName: "seconds"))
  var sessionTime = LimitOptions.seconds(SessionLimits().timeToLive)

  @Option(
    parsing: .unconditional,
    help: "Bytes of frames that are kept of each store for frontends that come back.")
  var historyBytes = SessionLimits().historyBytes

  @Option(parsing: .unconditional, help: "Names of frontends that one session remembers.")
  var maximumFrontendNames = SessionLimits().frontendNames

  @Option(
    parsing: .unconditional,
    help: "Bytes of the title of a todo; at most \(TodoTitle.maximumBytes).")
  var maximumTitleBytes = TextLimits().titleBytes

  @Option(
    parsing: .unconditional, help: "Bytes of an entry of a form; at most \(FormEntry.maximumBytes)."
  )
  var maximumFieldBytes = TextLimits().fieldBytes

  @OptionGroup
  var todoLimits: TodoLimitOptions

  @Option(parsing: .unconditional, help: "Bytes of what a source gives.")
  var maximumSourceBytes = HTTPSource.maximumBytes

  func validate() throws {
    let all = [
      maximumFrameBytes, maximumDepth, maximumBatchLength, maximumOpenRequests,
      maximumOutboxBytes, maximumBufferBytes, maximumConnections, maximumConnectionsPerAddress ?? 1,
      maximumConnectionsPerIdentity ?? 1, maximumStores, maximumSourceBytes, maximumSessions,
      maximumSessionsPerIdentity ?? 1, maximumBytesPerSession, maximumBytesPerIdentity ?? 1,
      maximumBytes,
      maximumFrontendNames, maximumTitleBytes, maximumFieldBytes,
    ]
    guard all.allSatisfy({ $0 > 0 }) else { throw ValidationError("A limit is at least 1.") }
    guard maximumInputsPerSecond >= 0, maximumBytesPerSecond >= 0, historyBytes >= 0 else {
      throw ValidationError("A rate is at least 0, and so are the bytes of a history.")
    }
    guard
      [timeToFirstRequest, frameTime, idleTime, unreadTime, pingTime, sessionTime].allSatisfy({
        (0...1e9).contains($0)
      })
    else {
      throw ValidationError("A time is at least 0 seconds, and no more than 1000000000.")
    }
    guard maximumTitleBytes <= TodoTitle.maximumBytes else {
      throw ValidationError("A title is at most \(TodoTitle.maximumBytes) bytes.")
    }
    guard maximumFieldBytes <= FormEntry.maximumBytes else {
      throw ValidationError("An entry is at most \(FormEntry.maximumBytes) bytes.")
    }
    guard maximumDepth <= 1_000 else { throw ValidationError("The depth is at most 1000.") }
  }

  var server: ServerLimits {
    var limits = ServerLimits()
    limits.frameBytes = maximumFrameBytes
    limits.depth = maximumDepth
    limits.batchLength = maximumBatchLength
    limits.openRequests = maximumOpenRequests
    limits.outboxBytes = maximumOutboxBytes
    limits.bufferBytes = maximumBufferBytes
    limits.connections = maximumConnections
    limits.connectionsPerAddress = maximumConnectionsPerAddress
    limits.connectionsPerIdentity = maximumConnectionsPerIdentity
    limits.inputsPerSecond = maximumInputsPerSecond > 0 ? maximumInputsPerSecond : nil
    limits.bytesPerSecond = maximumBytesPerSecond > 0 ? maximumBytesPerSecond : nil
    limits.timeToFirstRequest = Self.duration(timeToFirstRequest)
    limits.frameTime = Self.duration(frameTime)
    limits.idleTime = Self.duration(idleTime)
    limits.unreadTime = Self.duration(unreadTime)
    limits.pingTime = Self.duration(pingTime)
    return limits
  }

  private static func seconds(_ limit: Duration?) -> Double { limit.map { $0 / .seconds(1) } ?? 0 }

  private static func duration(_ seconds: Double) -> Duration? {
    seconds > 0 ? .seconds(seconds) : nil
  }

  var texts: TextLimits {
    var limits = TextLimits()
    limits.titleBytes = maximumTitleBytes
    limits.fieldBytes = maximumFieldBytes
    return limits
  }

  var todos: TodoLimits { todoLimits.limits }

  var session: SessionLimits {
    var limits = SessionLimits()
    limits.storesPerSession = maximumStores
    limits.bytesPerSession = maximumBytesPerSession
    limits.bytesPerIdentity = maximumBytesPerIdentity
    limits.bytes = maximumBytes
    limits.sessions = maximumSessions
    limits.sessionsPerIdentity = maximumSessionsPerIdentity
    limits.timeToLive = .seconds(sessionTime)
    limits.historyBytes = historyBytes
    limits.frontendNames = maximumFrontendNames
    return limits
  }
}
