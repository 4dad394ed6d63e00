// SPDX-License-Identifier: Apache-2.0

/// The state machine of a connection, the same for sockets, WebSockets and standard streams.
///
///     open ---------> draining ---------> closing ---------> closed
///       \             ^                   the output has     both directions have ended,
///        > lingering /                    everything         or the transport is gone
///
/// Only events change the state. `take` returns the action that the transport has to perform.
public enum ConnectionLife: ~Copyable {
  /// The connection carries out messages of the client.
  case open
  /// The connection carries out no more messages. It still sends updates, until the server has
  /// responded to its other clients.
  case lingering(Input)
  /// The connection carries out no more messages. It still sends the responses to earlier requests.
  case draining(Draining)
  /// Everything has been handed to the transport.
  case closing(Closing)
  /// The connection has ended, or the transport is gone.
  case closed

  /// The state of the direction from the client.
  public enum Input: Sendable {
    /// The client may send more.
    case open
    /// The client has ended its direction.
    case ended
  }

  /// The state of a connection that drains.
  public struct Draining: Sendable {
    var input = Input.open
    /// True if bytes are read and discarded: unread bytes would let the system reset the
    /// connection.
    var discardsInput = false
    /// True if running requests are cancelled.
    var isTimeUp = false
    /// True if the client is no longer served, and is disconnected soon, even if it does not read
    /// the reason.
    var isRefused = false
  }

  /// The state of a connection that waits for its transport.
  public struct Closing: Sendable {
    var input = Input.open
    /// True if everything was sent and the output has ended.
    var isOutputEnded = false
  }

  /// An event in the life of a connection.
  public enum Event: Sendable {
    /// The start of the next frame is unknown, the stream carries another protocol, or the client
    /// has sent `exit`.
    case unreadable
    /// The server ends, but first responds to other clients.
    case linger
    /// The server ends.
    case finish
    /// The client sends nothing more.
    case inputEnded
    /// The time limit of running requests is over.
    case timeIsUp
    /// The client is no longer served.
    case refused
    /// All responses were handed to the transport.
    case done
    /// The connection ends immediately; unsent bytes are lost.
    case cut
    /// The transport has sent everything and ended the output.
    case outputEnded
    /// The transport is gone.
    case gone
  }

  /// An action for the transport.
  public enum Action: Sendable {
    /// Send `timeIsUp` after the time limit of running requests.
    case expireLater
    /// Send everything, then end the output.
    case endOutput
    /// Close when the client ends its direction, or after a short time.
    case awaitInputEnd
    /// Close now.
    case close
  }

  /// Takes an event; an event without a meaning in the current phase changes nothing.
  ///
  /// - Returns: The action that the transport has to perform; nil: none.
  public mutating func take(_ event: Event) -> Action? {
    var action: Action?
    self = (consume self).after(event, &action)
    return action
  }

  private consuming func after(_ event: Event, _ action: inout Action?) -> ConnectionLife {
    switch consume self {
    case .open: return Self.open(after: event, &action)
    case .lingering(let input): return Self.lingering(input, after: event, &action)
    case .draining(let draining): return Self.draining(draining, after: event, &action)
    case .closing(let closing): return Self.closing(closing, after: event, &action)
    case .closed: return .closed
    }
  }

  private static func open(after event: Event, _ action: inout Action?) -> ConnectionLife {
    switch event {
    case .linger: return .lingering(.open)
    case .unreadable:
      action = .expireLater
      return .draining(Draining(discardsInput: true))
    case .finish:
      action = .expireLater
      return .draining(Draining())
    case .inputEnded:
      action = .expireLater
      return .draining(Draining(input: .ended))
    case .timeIsUp: return .draining(Draining(isTimeUp: true))
    case .refused: return .draining(Draining(isTimeUp: true, isRefused: true))
    case .done:
      action = .endOutput
      return .closing(Closing())
    case .cut:
      action = .close
      return .closed
    case .outputEnded: return .open
    case .gone: return .closed
    }
  }

  private static func lingering(
    _ input: Input, after event: Event, _ action: inout Action?
  ) -> ConnectionLife {
    switch event {
    case .finish:
      action = .expireLater
      return .draining(Draining(input: input))
    case .inputEnded: return .lingering(.ended)
    case .timeIsUp: return .draining(Draining(input: input, isTimeUp: true))
    case .refused: return .draining(Draining(input: input, isTimeUp: true, isRefused: true))
    case .done:
      action = .endOutput
      return .closing(Closing(input: input))
    case .cut:
      action = .close
      return .closed
    case .gone: return .closed
    case .linger, .unreadable, .outputEnded: return .lingering(input)
    }
  }

  private static func draining(
    _ draining: Draining, after event: Event, _ action: inout Action?
  ) -> ConnectionLife {
    var next = draining
    switch event {
    case .inputEnded:
      next.input = .ended
      next.discardsInput = false
    case .timeIsUp: next.isTimeUp = true
    case .refused:
      next.discardsInput = false
      next.isTimeUp = true
      next.isRefused = true
    case .done:
      action = .endOutput
      return .closing(Closing(input: draining.input))
    case .cut:
      action = .close
      return .closed
    case .gone: return .closed
    case .linger, .finish, .unreadable, .outputEnded: break
    }
    return .draining(next)
  }

  private static func closing(
    _ closing: Closing, after event: Event, _ action: inout Action?
  ) -> ConnectionLife {
    switch (event, closing.input, closing.isOutputEnded) {
    case (.inputEnded, .open, true), (.outputEnded, .ended, false), (.cut, _, _):
      action = .close
      return .closed
    case (.inputEnded, .open, false): return .closing(Closing(input: .ended))
    case (.outputEnded, .open, false):
      action = .awaitInputEnd
      return .closing(Closing(isOutputEnded: true))
    case (.gone, _, _): return .closed
    default: return .closing(closing)
    }
  }
}

// MARK: - Questions about a phase

extension ConnectionLife {
  /// True while messages are carried out.
  public var isOpen: Bool {
    switch self {
    case .open: true
    default: false
    }
  }

  /// True once everything was handed to the transport; nothing is written after that.
  public var isOver: Bool {
    switch self {
    case .closing: true
    case .closed: true
    default: false
    }
  }

  /// True if the connection has ended, or the transport is gone.
  var isClosed: Bool {
    switch self {
    case .closed: true
    default: false
    }
  }

  /// True while open requests get their responses before the connection closes.
  var isDraining: Bool {
    switch self {
    case .draining: true
    default: false
    }
  }

  /// True while bytes of the client are read, to be carried out or discarded.
  var readsInput: Bool {
    switch self {
    case .open: true
    case .draining(let draining): draining.discardsInput
    default: false
    }
  }

  /// True while the client may send more and the connection waits for the end of its input.
  public var hasInput: Bool {
    switch self {
    case .open: true
    case .lingering(let input): input == .open
    case .draining(let draining): draining.input == .open
    default: false
    }
  }

  /// True if running requests are cancelled: their time is over, or the client is refused.
  var isTimeUp: Bool {
    switch self {
    case .draining(let draining): draining.isTimeUp
    default: false
    }
  }

  /// True if the client is no longer served, and is disconnected soon, even if it does not read the
  /// reason.
  public var isRefused: Bool {
    switch self {
    case .draining(let draining): draining.isRefused
    default: false
    }
  }
}
