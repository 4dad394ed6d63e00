// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore

/// An event of a channel for a connection on another loop.
enum RelayEvent: Sendable {
  /// Bytes of a stream.
  case received(ByteBuffer)
  /// Frames of a WebSocket, and the memory of an incomplete one.
  case frames([Connection.Arrival], partialBytes: Int)
  case inputEnded
  case finish
  case linger
  /// The channel has sent what it held, as `RelayEnd` has asked.
  case caughtUp
  case timeIsUp
  case refused(Refusal)
  case credentialsChanged
  case databaseIsGone(isLong: Bool)
  case outputEnded
  case cut
  case disconnected

  /// Copies an event; nil for an event that the connection's own loop sends.
  init?(_ event: Connection.Event) {
    switch event {
    case .received(let bytes): self = .received(ByteBuffer(bytes: bytes))
    case .inputEnded: self = .inputEnded
    case .finish: self = .finish
    case .linger: self = .linger
    case .caughtUp: self = .caughtUp
    case .timeIsUp: self = .timeIsUp
    case .refused(let refusal): self = .refused(refusal)
    case .credentialsChanged: self = .credentialsChanged
    case .databaseIsGone(let isLong): self = .databaseIsGone(isLong: isLong)
    case .outputEnded: self = .outputEnded
    case .cut: self = .cut
    case .disconnected: self = .disconnected
    case .framed, .othersServed: return nil
    }
  }

  /// The event for the connection; nil if it consists of input.
  var event: Connection.Event? {
    switch self {
    case .received, .frames: nil
    case .inputEnded: .inputEnded
    case .finish: .finish
    case .linger: .linger
    case .caughtUp: .caughtUp
    case .timeIsUp: .timeIsUp
    case .refused(let refusal): .refused(refusal)
    case .credentialsChanged: .credentialsChanged
    case .databaseIsGone(let isLong): .databaseIsGone(isLong: isLong)
    case .outputEnded: .outputEnded
    case .cut: .cut
    case .disconnected: .disconnected
    }
  }

  /// True for the last event of a connection.
  var isEnd: Bool { if case .disconnected = self { true } else { false } }

  /// True if it was caused by a read of the channel.
  var isRead: Bool {
    switch self {
    case .received, .frames: true
    default: false
    }
  }
}

/// The output of one or more turns of a connection on another loop.
struct RelayBatch: Sendable {
  /// A part of the output, in order.
  enum Part: Sendable {
    case bytes(ByteBuffer)
    case expireLater
    case endOutput
    case awaitInputEnd
    case serviceRestarts
    case close
    /// Skip the rest of the WebSocket message that has begun.
    case skipFrame
    /// Another connection replaces this one.
    case handOver(to: RelayEnd, [EarlierConnection], RelayHandover)
  }

  var parts: [Part] = []
  /// Number of reads that were processed; after the last one, the channel may read again.
  var endedReads = 0
  var status: ConnectionStatus

  /// Ends the earlier connections of a client that has gone before it got the batch.
  func drop() {
    for case .handOver(_, let earlier, _) in parts {
      for connection in earlier { connection.disconnect() }
    }
  }
}

/// The properties of a connection that its transport looks at.
struct ConnectionStatus: Sendable, Equatable {
  var isOver = false
  var wantsBytes = false
  var isInLargeFrame = false
  var isInFrame = false
  var isRefused = false
  var isIdle = false
  var isAuthorised = true
  var hasOpenResponses = true
  var hasExited = false
  var messageCount: UInt32 = 0
}

extension ConnectionStatus {
  init(_ connection: Connection) {
    isOver = connection.life.isOver
    wantsBytes = connection.wantsBytes
    isInLargeFrame = connection.isInLargeFrame
    isInFrame = connection.isInFrame
    isRefused = connection.life.isRefused
    isIdle = connection.isIdle
    isAuthorised = connection.isAuthorised
    hasOpenResponses = connection.hasOpenResponses
    hasExited = connection.hasExited
    messageCount = connection.messageCount
  }
}
