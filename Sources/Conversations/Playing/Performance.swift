// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// The state of a conversation that is being played: open connections and bound names.
struct Performance {
  let conversation: Conversation
  var wait: Duration
  let pace: Pace
  let timer: ConversationTimer
  let connect: ConversationPlayer.Connect
  let isRecording: Bool

  var bindings = Bindings()
  var rewrites: [Rewrite] = []
  var transcript = Transcript()
  var connections: [OpenConnection] = []

  init(
    conversation: Conversation, wait: Duration, pace: Pace, timer: @escaping ConversationTimer,
    connect: @escaping ConversationPlayer.Connect, isRecording: Bool
  ) {
    self.conversation = conversation
    self.wait = wait
    self.pace = pace
    self.timer = timer
    self.connect = connect
    self.isRecording = isRecording
  }

  mutating func perform(_ step: Step) async throws(ConversationFailure) {
    transcript.source = step.line
    switch step.action {
    case .send(let outgoing, let name):
      try await send(outgoing, on: name, line: step.line)
    case .endInput(let name):
      let index = try await open(name, line: step.line)
      let channel = connections[index].channel
      transcript.ended(.input, of: name)
      try await bounded(line: step.line, on: index) { try await channel.closeInput() }
      connections[index].sent("end of input")
    case .close(let name):
      let index = try await open(name, line: step.line)
      transcript.ended(.close, of: name)
      await connections.remove(at: index).channel.close()
    case .expect(let expectations):
      try await expect(expectations)
    case .expectNothing(let name, let duration):
      try await expectNothing(on: name, for: duration, line: step.line)
    case .expectClose(let name):
      try await expectClose(of: name, line: step.line)
    case .wait(let duration):
      wait = duration
    case .pause(let duration):
      // Cancellation ends the conversation at the next step.
      if let time = pace.time(of: duration) { try? await timer(time) }
    }
  }

  mutating func closeAll() async {
    for connection in connections { await connection.channel.close() }
    connections = []
  }
}

// MARK: - Connections

extension Performance {
  /// Returns the index of a connection in `connections`; opens the connection if necessary.
  mutating func open(_ name: String, line: Int) async throws(ConversationFailure) -> Int {
    if let index = connections.firstIndex(where: { $0.name == name }) { return index }
    do {
      connections.append(OpenConnection(name: name, channel: try await connect(name)))
    } catch {
      throw failure(line, "the connection could not be opened", ["because: \(error)"])
    }
    return connections.count - 1
  }

  private mutating func send(
    _ outgoing: Outgoing, on name: String, line: Int
  ) async throws(ConversationFailure) {
    let index = try await open(name, line: line)
    let channel = connections[index].channel
    switch outgoing {
    case .message(let pattern):
      let value: JSONValue
      do throws(UnboundName) {
        value = try pattern.filled(from: bindings)
      } catch {
        throw failure(line, "<\(error.name)> has no value", on: index)
      }
      connections[index].sent(bindings.given.shown(value).spaced)
      transcript.sent(bindings.given.shown(value.bytes), on: name)
      try await bounded(line: line, on: index) { try await channel.send(value.bytes) }
    case .frame(let bytes):
      connections[index].sent("frame " + bindings.given.shown(bytes).readable)
      transcript.sent(bindings.given.shown(bytes), on: name)
      try await bounded(line: line, on: index) { try await channel.send(bytes) }
    case .raw(let bytes):
      connections[index].sent("raw " + bindings.given.shown(bytes).readable)
      transcript.sent(raw: bindings.given.shown(bytes), on: name)
      try await bounded(line: line, on: index) { try await channel.send(raw: bytes) }
    }
  }

  /// Performs a send with a time limit, because a server that does not read could block it.
  private func bounded(
    line: Int, on index: Int, _ work: @escaping @Sendable () async throws -> Void
  ) async throws(ConversationFailure) {
    let sent: Result<Void, any Error>? = await result(within: wait, timer: timer) {
      do {
        return .success(try await work())
      } catch is CancellationError {
        return nil
      } catch {
        return .failure(error)
      }
    }
    switch sent {
    case .success: return
    case nil:
      throw failure(
        line, "could not be sent within \(wait.seconds): the server does not read", on: index)
    case .failure(let error):
      throw failure(line, "could not be sent", ["because: \(error)"], on: index)
    }
  }
}
