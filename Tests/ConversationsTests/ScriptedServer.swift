// SPDX-License-Identifier: Apache-2.0

import Conversations

/// An action of a `ScriptedServer`.
enum Reply: ExpressibleByStringLiteral, Sendable {
  case message(String)
  case close
  case fail(String)
  /// The server never accepts the message.
  case block

  init(stringLiteral text: String) { self = .message(text) }
}

struct ScriptedFault: Error, CustomStringConvertible {
  let description: String
}

/// A server in memory that sends the first replies after the first message it receives, and so on.
///
/// If the player waits for a message and none can come, the wait ends immediately. Therefore a test
/// of silence takes no time.
actor ScriptedServer: ConversationChannel {
  private var replies: [[Reply]]
  private var queue: [Reply]
  private let silence: Gate
  private(set) var sent: [String] = []
  private(set) var isClosed = false

  init(initially: [Reply] = [], replies: [[Reply]] = [], silence: Gate) {
    queue = initially
    self.replies = replies
    self.silence = silence
  }

  func send(_ message: [UInt8]) async throws {
    try await take(String(decoding: message, as: UTF8.self))
  }

  func send(raw bytes: [UInt8]) async throws {
    try await take("raw " + String(decoding: bytes, as: UTF8.self))
  }

  func closeInput() async throws { try await take("end of input") }

  func close() async { isClosed = true }

  func receive() async throws -> [UInt8]? {
    switch queue.first {
    case .message(let text):
      queue.removeFirst()
      return [UInt8](text.utf8)
    case .close:
      return nil
    case .fail(let text):
      throw ScriptedFault(description: text)
    case .block, nil:
      try await waitForever()
      return nil
    }
  }

  private func take(_ what: String) async throws {
    sent.append(what)
    guard !replies.isEmpty else { return }
    let next = replies.removeFirst()
    if case .block = next.first { try await waitForever() }
    if case .fail(let text) = next.first { throw ScriptedFault(description: text) }
    queue += next
  }

  private func waitForever() async throws {
    await silence.open()
    await Gate().wait()
    throw CancellationError()
  }
}

/// The servers of one played conversation, and the durations of its waits.
actor Stage {
  private let servers: [String: [ScriptedServer]]
  private let silence = Gate()
  private(set) var opened: [String] = []
  private(set) var waits: [Duration] = []

  /// Creates the servers.
  ///
  /// - Parameter scripts: The replies on each connection. A connection that is opened again uses
  ///   the next script.
  init(_ scripts: [String: [[[Reply]]]]) {
    let silence = silence
    servers = scripts.mapValues { $0.map { ScriptedServer(replies: $0, silence: silence) } }
  }

  init(_ replies: [Reply]...) { self.init(["": [replies]]) }

  func sent(on name: String = "") async -> [String] {
    var sent: [String] = []
    for server in servers[name] ?? [] { sent += await server.sent }
    return sent
  }

  func areAllClosed() async -> Bool {
    for server in opened.flatMap({ servers[$0] ?? [] }) where await !server.isClosed {
      return false
    }
    return true
  }

  func open(_ name: String) throws -> ScriptedServer {
    let count = opened.count { $0 == name }
    guard let servers = servers[name], count < servers.count else {
      throw ScriptedFault(description: "there is no \(name)")
    }
    opened.append(name)
    return servers[count]
  }

  private func wait(_ duration: Duration) async {
    waits.append(duration)
    await silence.wait()
  }

  func waited(_ duration: Duration) { waits.append(duration) }

  nonisolated var player: ConversationPlayer { player(given: GivenValues()) }

  nonisolated func player(given: GivenValues) -> ConversationPlayer {
    ConversationPlayer(
      given: given, timer: { await self.wait($0) }, connect: { try await self.open($0) })
  }
}

/// Parses a text with one conversation.
func conversation(_ text: String) throws -> Conversation {
  let conversations = try ConversationParser.conversations(in: text.utf8, file: "x.conversation")
  return conversations[0]
}
