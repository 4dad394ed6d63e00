// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// A recorder that writes the messages between clients and a server as the lines of a conversation.
///
/// It only makes lines: a value without files, sockets and clocks. All knowledge of Statewire's
/// messages is in `RecordedMessages`.
///
/// - Order: lines are in the order of the calls. A message is taken before it is passed on, so a
///   response is always after its request.
/// - Bound: identifiers, secrets and open requests take at most `maximumBytes`; then the recording ends.
public struct ConversationRecorder: Sendable {
  /// The sender of a message.
  public enum Side: Sendable {
    /// A client.
    case client
    /// The server.
    case server
  }

  /// The memory of identifiers, secrets and open requests at which the recording ends, in bytes.
  public static let maximumBytes = 16 << 20

  private var messages: RecordedMessages
  private var connections: [Int: Connection] = [:]
  private var lastConnection = 0
  private let isSingle: Bool
  private let maximumBytes: Int
  /// The memory of the requests of all connections, approximately.
  private var requestBytes = 0
  /// The time of the last line.
  private var lastTime: Duration?
  /// True once the memory has been used up.
  public private(set) var hasEnded = false

  fileprivate struct Connection {
    let name: String
    var requests: RecordedRequests
    /// True once the end of the client's input is recorded.
    var hasEndedInput = false
    /// True if nothing more is recorded.
    var isClosed = false
  }

  /// Creates a recorder.
  ///
  /// - Parameters:
  ///   - secrets: The values to redact.
  ///   - isSingle: True if there is only one connection, which then has no name.
  ///   - maximumBytes: The memory at which the recording ends.
  public init(
    secrets: ServerSecrets, isSingle: Bool = false,
    maximumBytes: Int = ConversationRecorder.maximumBytes
  ) {
    messages = RecordedMessages(secrets: secrets)
    self.isSingle = isSingle
    self.maximumBytes = maximumBytes
  }

  /// The first lines of the file: what is in it.
  ///
  /// - Parameter options: The options that `play` passes to a server that it starts.
  public func heading(server options: [String] = []) -> [String] {
    var lines = ["# Recorded by statewire record. Values that differ in each run have names."]
    lines.append(
      messages.secrets.isDescribed
        ? "# Secrets that the server describes are redacted."
        : "# The server has not described its secrets; the values of its stores are redacted.")
    if !options.isEmpty {
      lines.append("@server " + options.map { CommandWords.quoted($0) }.joined(separator: " "))
    }
    return lines
  }

  /// Returns the identifier of a new connection.
  public mutating func opened() -> Int {
    lastConnection += 1
    connections[lastConnection] = Connection(
      name: isSingle ? "" : "c\(lastConnection)",
      requests: RecordedRequests(isAlone: isSingle))
    return lastConnection
  }

  /// Returns the lines for a message.
  ///
  /// - Parameters:
  ///   - message: The message without its frame.
  ///   - side: The sender.
  ///   - connection: The connection; see `opened`.
  ///   - time: The time since any fixed moment.
  public mutating func took(
    _ message: [UInt8], from side: Side, on connection: Int, at time: Duration
  ) -> [String] {
    guard !hasEnded, var state = connections[connection], !state.isClosed else { return [] }
    let value = try? JSONValue(parsing: message)
    let before = state.requests.byteCount
    // Otherwise the requests are copied.
    connections[connection] = nil
    var lines: [String]
    switch (side, value) {
    case (.client, let value?):
      let pattern = messages.sending(value, &state.requests)
      lines = messages.givenNames.map { "@given \($0)" } + pause(at: time)
      lines.append("\(state.arrow("-->")) \(pattern.spaced)")
    case (.client, nil):
      // Without its bytes: they may contain anything. The server refuses these as well.
      lines = pause(at: time) + ["\(state.arrow("-->")) frame not JSON"]
    case (.server, let value?):
      lines = ["\(state.arrow("<--")) \(messages.expecting(value, &state.requests).spaced)"]
    case (.server, nil):
      lines = ["# \(state.shown): the server has sent \(message.count) bytes that are not JSON."]
    }
    lastTime = time
    requestBytes += state.requests.byteCount - before
    connections[connection] = state
    guard messages.byteCount + requestBytes > maximumBytes else { return lines }
    hasEnded = true
    return lines + [
      "# The recording ends here: it has too many identifiers, secrets and open requests."
    ]
  }

  /// Returns the lines for the end of what one side sends.
  ///
  /// The connection is over when both sides have ended, or one of them abruptly.
  ///
  /// - Parameters:
  ///   - side: The side that sends nothing more.
  ///   - connection: The connection.
  ///   - isAbrupt: True if the side has also stopped to receive.
  ///   - time: The time since the same moment as for messages.
  public mutating func ended(
    _ side: Side, of connection: Int, isAbrupt: Bool = false, at time: Duration
  ) -> [String] {
    guard !hasEnded, let state = connections[connection] else { return [] }
    if side == .server || isAbrupt {
      connections[connection] = nil
      requestBytes -= state.requests.byteCount
    }
    if state.isClosed { return [] }
    defer { lastTime = time }
    switch side {
    case .server: return ["\(state.arrow("<--")) close"]
    case .client where isAbrupt: return pause(at: time) + ["\(state.arrow("-->")) close"]
    case .client:
      if state.hasEndedInput { return [] }
      connections[connection]?.hasEndedInput = true
      return pause(at: time) + ["\(state.arrow("-->")) end of input"]
    }
  }

  /// Ends the recording of one connection, for a reason that is written as a comment.
  public mutating func stopped(_ connection: Int, reason: String) -> [String] {
    guard !hasEnded, let state = connections[connection], !state.isClosed else { return [] }
    connections[connection]?.isClosed = true
    return ["# The recording of \(state.shown) ends here: \(reason)."]
  }

  /// Returns the pause before a line of a client, if it is at least 10 ms: less is mostly the time of
  /// the server.
  private func pause(at time: Duration) -> [String] {
    guard let lastTime else { return [] }
    let milliseconds = min((time - lastTime) / .milliseconds(1), 3_600_000).rounded()
    guard milliseconds >= 10 else { return [] }
    let (seconds, rest) = Int(milliseconds).quotientAndRemainder(dividingBy: 1000)
    let digits = "\(rest + 1000)".dropFirst()
    return ["@pause \(seconds).\(digits)"]
  }
}

extension ConversationRecorder.Connection {
  fileprivate func arrow(_ arrow: String) -> String { name.isEmpty ? arrow : "\(name) \(arrow)" }

  fileprivate var shown: String { name.isEmpty ? "the connection" : name }
}
