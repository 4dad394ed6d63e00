// SPDX-License-Identifier: Apache-2.0

public import ClientTransports

/// A scripted exchange of messages with a server.
public struct Conversation: Sendable {
  /// The name of the file it stands in, for messages to people.
  public let file: String
  /// The line it begins in, from 1.
  public let line: Int
  /// What the server is to be started with, besides what whoever starts it adds (`@server`).
  public internal(set) var serverOptions: [String] = []
  /// The only framing it makes sense in; nil if any will do (`@framing`).
  public internal(set) var framing: ClientConnection.Framing?
  /// What is done and expected, in order.
  var steps: [Step] = []

  init(file: String, line: Int) {
    self.file = file
    self.line = line
  }

  /// The connections it uses, in the order of their first use; the one without a name is "".
  public var connectionNames: [String] {
    var names: [String] = []
    for name in steps.flatMap(\.connections) where !names.contains(name) { names.append(name) }
    return names
  }

  /// Whether it comes back to a connection that has been closed.
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

/// One thing that is done or expected.
struct Step: Sendable {
  enum Action: Sendable {
    case send(Outgoing, on: String)
    case endInput(of: String)
    case close(String)
    /// The messages come one after another; a group of one is the usual line.
    case expect([Expectation])
    case expectNothing(on: String, for: Duration)
    case expectClose(String)
    /// From here on, this is how long is waited for what is expected.
    case wait(Duration)
  }

  /// Where it is written, from 1.
  let line: Int
  let action: Action

  var connections: [String] {
    switch action {
    case .send(_, let name), .endInput(let name), .close(let name), .expectNothing(let name, _),
      .expectClose(let name):
      [name]
    case .expect(let expectations): expectations.map(\.connection)
    case .wait: []
    }
  }
}

/// What is sent to the server.
enum Outgoing: Sendable {
  /// One message of JSON, written compactly.
  case message(Pattern)
  /// One message, whatever its bytes are.
  case frame([UInt8])
  /// Bytes as they are, in no frame.
  case raw([UInt8])
}

/// One message that the server is to send.
struct Expectation: Sendable {
  let line: Int
  let connection: String
  let pattern: Pattern
  /// Where the value is written.
  let source: SourceRange
}
