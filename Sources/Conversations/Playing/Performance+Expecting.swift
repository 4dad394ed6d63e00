// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

extension Performance {
  /// Waits for messages that may come in any order; a group of one has a fixed order.
  mutating func expect(_ expectations: [Expectation]) async throws(ConversationFailure) {
    var received: [GroupMatching.Received] = []
    var found: (expectations: [Int], bindings: Bindings)? = ([], bindings)
    // Connections are independent, so the order in which they are read does not matter.
    for name in expectations.connections {
      let index = try await open(name, line: expectations[0].line)
      for _ in expectations.filter({ $0.connection == name }) {
        let missing = expectations.indices.filter { found?.expectations.contains($0) != true }
          .map { expectations[$0] }.filter { $0.connection == name }
        let before = connections[index].history
        let value = try await receive(on: index, missing: missing)
        received.append(GroupMatching.Received(connection: name, value: value))
        found = GroupMatching.assign(received, to: expectations, bindings)
        if found == nil, !isRecording {
          throw mismatch(value, among: missing, after: before)
        }
      }
    }
    if let found {
      bindings = found.bindings
    } else {
      record(received, for: expectations)
    }
  }

  mutating func expectNothing(
    on name: String, for time: Duration, line: Int
  ) async throws(ConversationFailure) {
    let index = try await open(name, line: line)
    let arrival = await arrival(on: index, within: time)
    guard let what = arrival.unexpected(bindings.given) else { return }
    throw failure(line, "expected nothing for \(time.seconds)", [what], on: index)
  }

  mutating func expectClose(of name: String, line: Int) async throws(ConversationFailure) {
    let index = try await open(name, line: line)
    let arrival = await arrival(on: index, within: wait)
    switch arrival {
    case .closed:
      await connections.remove(at: index).channel.close()
    case .nothing:
      throw failure(
        line, "the server did not close the connection within \(wait.seconds)",
        on: index)
    case .message, .failed:
      throw failure(
        line, "the server was expected to close the connection",
        [arrival.unexpected(bindings.given) ?? ""], on: index)
    }
  }

  /// Waits for the next message on a connection and adds it to the transcript.
  private mutating func arrival(on index: Int, within time: Duration) async -> Arrival {
    let connection = connections[index]
    let arrival = await Arrival.next(on: connection.channel, within: time, timer: timer)
    switch arrival {
    case .message(let bytes): transcript.received(bindings.given.shown(bytes), on: connection.name)
    case .closed: transcript.closedByServer(connection.name)
    case .failed, .nothing: break
    }
    return arrival
  }

  /// Receives the next message, which should match one of the missing expectations.
  private mutating func receive(
    on index: Int, missing: [Expectation]
  ) async throws(ConversationFailure) -> JSONValue {
    let line = missing.first?.line ?? 0
    let expected = missing.prefix(4).map { "expected  \($0.pattern.spaced.shortened(to: 400))" }
    let arrival = await arrival(on: index, within: wait)
    switch arrival {
    case .message(let bytes):
      do {
        let value = try JSONValue(parsing: bytes)
        connections[index].received(bindings.given.shown(value).spaced)
        return value
      } catch {
        let received = bindings.given.shown(bytes).readable
        let details = expected + ["received  \(received)", "because: \(error)"]
        throw failure(line, "the received message is not JSON", details, on: index)
      }
    case .nothing:
      throw failure(line, "no message came within \(wait.seconds)", expected, on: index)
    case .closed:
      throw failure(line, "the server closed the connection", expected, on: index)
    case .failed(let error):
      throw failure(line, "the connection failed", expected + ["because: \(error)"], on: index)
    }
  }
}

// MARK: - Recording

extension Performance {
  /// Assigns each message to the expectation that it matches, or else to the closest one.
  private mutating func record(
    _ received: [GroupMatching.Received], for expectations: [Expectation]
  ) {
    var open = expectations
    var others: [GroupMatching.Received] = []
    for message in received {
      let match = open.firstIndex {
        $0.connection == message.connection
          && $0.pattern.matches(message.value, binding: &bindings)
      }
      if let match { open.remove(at: match) } else { others.append(message) }
    }
    for message in others {
      let candidates = open.filter { $0.connection == message.connection }
      guard
        let nearest = GroupMatching.nearest(to: message.value, among: candidates, bindings)
      else { continue }
      open.removeAll { $0.line == nearest.line }
      let value = nearest.pattern.adjusted(to: message.value, binding: &bindings)
      rewrites.append(Rewrite(range: nearest.source, text: value.spaced))
    }
  }
}

// MARK: - Failures

extension Performance {
  func failure(_ line: Int, _ summary: String, _ details: [String] = []) -> ConversationFailure {
    ConversationFailure(file: conversation.file, line: line, summary: summary, details: details)
  }

  func failure(
    _ line: Int, _ summary: String, _ details: [String] = [], on index: Int
  ) -> ConversationFailure {
    failure(line, summary, details + connections[index].history.asDetails)
  }

  private func mismatch(
    _ value: JSONValue, among missing: [Expectation], after history: [String]
  ) -> ConversationFailure {
    guard let nearest = GroupMatching.nearest(to: value, among: missing, bindings) else {
      return failure(
        0, "no further message was expected",
        ["received  \(bindings.given.shown(value).spaced)"])
    }
    var bindings = bindings
    let differences = nearest.pattern.differences(from: value, binding: &bindings)
    let shown = 5
    var details = [
      "expected  \(nearest.pattern.spaced.shortened(to: 400))",
      "received  \(bindings.given.shown(value).spaced.shortened(to: 400))",
    ]
    details += differences.prefix(shown).map { "at \($0)" }
    if differences.count > shown { details.append("and \(differences.count - shown) more") }
    let summary =
      missing.count == 1
      ? "the message is not the expected one"
      : "the message is not one of the \(missing.count) expected ones; this one is the closest"
    return failure(nearest.line, summary, details + history.asDetails)
  }
}

extension Arrival {
  /// Returns the arrival in one line; nil if nothing came.
  fileprivate func unexpected(_ given: HiddenValues) -> String? {
    switch self {
    case .nothing: nil
    case .message(let bytes): "received  \(given.shown(bytes).readable.shortened(to: 400))"
    case .closed: "the server closed the connection"
    case .failed(let error): "the connection failed: \(error)"
    }
  }
}

extension [String] {
  fileprivate var asDetails: [String] { isEmpty ? [] : ["before that:"] + map { "  " + $0 } }
}

extension [Expectation] {
  fileprivate var connections: [String] {
    reduce(into: []) { if !$0.contains($1.connection) { $0.append($1.connection) } }
  }
}

extension Duration {
  /// The duration in seconds, such as "5 s" or "0.5 s".
  var seconds: String {
    let seconds = Double(components.seconds) + Double(components.attoseconds) / 1e18
    return seconds == seconds.rounded() ? "\(Int64(seconds)) s" : "\(seconds) s"
  }
}
