// SPDX-License-Identifier: Apache-2.0

public import ClientTransports

/// A scripted exchange of messages with a server.
public struct Conversation: Sendable {
  /// The name of the file that contains the conversation, for messages to people.
  public let file: String
  /// The first line of the conversation in the file, from 1.
  public let line: Int
  /// The options to add to the command of the server (`@server`).
  public internal(set) var serverOptions: [String] = []
  /// The framing in which the conversation must be played (`@framing`); nil for any framing.
  public internal(set) var framing: ClientConnection.Framing?
  /// The names whose values the player is given (`@given`), in order.
  public internal(set) var givenNames: [String] = []
  /// The actions and expectations, in order.
  var steps: [Step] = []

  init(file: String, line: Int) {
    self.file = file
    self.line = line
  }

  /// The names of the connections, in the order of their first use; the connection without a name
  /// is "".
  public var connectionNames: [String] {
    var names: [String] = []
    for name in steps.flatMap(\.connections) where !names.contains(name) { names.append(name) }
    return names
  }

  /// True if the conversation uses a connection again after it was closed.
  public var reopensConnections: Bool {
    var closed: Set<String> = []
    for step in steps {
      if !closed.isDisjoint(with: step.connections) { return true }
      switch step.action {
      case .close(let name), .expectClose(let name): closed.insert(name)
      default: break
      }
    }
    return false
  }
}

/// One action or expectation.
struct Step: Sendable {
  enum Action: Sendable {
    case send(Outgoing, on: String)
    case endInput(of: String)
    case close(String)
    /// The messages may come in any order; a single line with `<--` is a group of one.
    case expect([Expectation])
    case expectNothing(on: String, for: Duration)
    case expectClose(String)
    /// Sets the time to wait for each later expectation.
    case wait(Duration)
    /// Waits, if the conversation is played with its pauses.
    case pause(Duration)
  }

  /// The line in the file, from 1.
  let line: Int
  let action: Action

  var connections: [String] {
    switch action {
    case .send(_, let name), .endInput(let name), .close(let name), .expectNothing(let name, _),
      .expectClose(let name):
      [name]
    case .expect(let expectations): expectations.map(\.connection)
    case .wait, .pause: []
    }
  }
}

/// Data to send to the server.
enum Outgoing: Sendable {
  /// One JSON message, written compactly.
  case message(Pattern)
  /// One message with any bytes.
  case frame([UInt8])
  /// Bytes without a frame.
  case raw([UInt8])
}

/// One message that the server must send.
struct Expectation: Sendable {
  let line: Int
  let connection: String
  let pattern: Pattern
  /// The position of the value in the file.
  let source: SourceRange
}
