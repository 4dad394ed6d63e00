// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// The client's side of a conversation: what to send, and which received values to keep for it.
struct LoadScript: Sendable {
  /// One message to send.
  struct Message: Sendable {
    let outgoing: Outgoing
    let connection: String
  }

  /// Values to keep from what the server sends on one connection.
  struct Captures: Sendable {
    /// The patterns of responses with names, by the id.
    fileprivate(set) var responses: [String: Pattern] = [:]
    /// The patterns of notifications with names, in order.
    fileprivate(set) var notifications: [Pattern] = []
  }

  private(set) var messages: [Message] = []
  private(set) var captures: [String: Captures] = [:]
  let givenNames: [String]
  /// The names of the connections, in order.
  let connections: [String]

  /// - Throws: `LoadFault` if the conversation sends nothing.
  init(_ conversation: Conversation) throws(LoadFault) {
    givenNames = conversation.givenNames
    connections = conversation.connectionNames
    for step in conversation.steps {
      switch step.action {
      case .send(let outgoing, let connection):
        messages.append(Message(outgoing: outgoing, connection: connection))
      case .expect(let expectations):
        for expectation in expectations { capture(expectation) }
      case .endInput, .close, .expectNothing, .expectClose, .wait, .pause: break
      }
    }
    guard !messages.isEmpty else {
      throw LoadFault("\(conversation.place): the conversation sends nothing")
    }
  }

  private mutating func capture(_ expectation: Expectation) {
    let pattern = expectation.pattern
    let patterns = if case .array(let all) = pattern { all } else { [pattern] }
    for pattern in patterns where !pattern.names.isEmpty {
      var captures = captures[expectation.connection] ?? Captures()
      if case .literal(let id)? = pattern.member("id") {
        captures.responses["\(id)"] = pattern
      } else if pattern.member("method") != nil {
        captures.notifications.append(pattern)
      }
      self.captures[expectation.connection] = captures
    }
  }
}

/// A reason why a load cannot begin or continue.
public struct LoadFault: Error, Equatable, CustomStringConvertible {
  /// The reason, one sentence.
  public let description: String

  /// Creates a fault.
  ///
  /// - Parameter description: The reason, one sentence.
  public init(_ description: String) { self.description = description }
}

extension Pattern {
  /// The pattern of a member; nil if there is none.
  fileprivate func member(_ key: String) -> Pattern? {
    guard case .object(let members, _) = self else { return nil }
    return members.first { $0.key == key }?.pattern
  }

  /// Binds the names in the pattern to the values at their places. Differences do not matter: under
  /// load, revisions are not those of the conversation.
  func capture(from value: JSONValue, into bindings: inout Bindings) {
    _ = differences(from: value, binding: &bindings)
  }
}
