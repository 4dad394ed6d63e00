// SPDX-License-Identifier: Apache-2.0

internal import ServerCore
internal import Wire

/// The earlier connections of a client. Those that have ended are removed when the client moves on.
struct EarlierConnections {
  private var connections: [EarlierConnection] = []
  /// Those that have written their last response. Not read from them: their responses would still be
  /// under way to the present connection.
  private var responded: [EarlierConnection] = []

  /// Adds those of a client that comes from another end. Some may have responded here already.
  mutating func add(_ others: [EarlierConnection]) { connections += others }

  /// True if requests in earlier sessions may be running.
  var mayHaveRequests: Bool { connections.contains { !$0.isOver } }

  /// True if responses are missing.
  var oweResponses: Bool { !connections.allSatisfy(hasResponded) }

  private func hasResponded(_ connection: EarlierConnection) -> Bool {
    responded.contains { $0 === connection }
  }

  /// Notes that all responses of a connection have reached the present one.
  mutating func markResponded(_ connection: EarlierConnection) { responded.append(connection) }

  /// Cancels a request.
  func cancel(_ request: RequestID) {
    for connection in connections { connection.cancel(request) }
  }

  /// Responds to all requests with the error -32800, because their time is over.
  func expire() {
    for connection in connections { connection.expire() }
  }

  /// Responds to all requests with an error, because the session database does not respond.
  ///
  /// - Parameter ended: Called once, on any loop, after the messages for the client.
  func databaseIsGone(isLong: Bool, _ ended: @escaping @Sendable () -> Void) {
    guard !connections.isEmpty else { return ended() }
    let waiting = Lock(connections.count)
    for connection in connections {
      connection.databaseIsGone(isLong: isLong) {
        let isLast = waiting.withLock { count in
          count -= 1
          return count == 0
        }
        if isLast { ended() }
      }
    }
  }

  /// Ends all, because the client has disconnected.
  func disconnect() {
    for connection in connections { connection.disconnect() }
  }

  /// Adds the connection that the client leaves, and makes all write to another end. The oldest
  /// expire if the client has too many.
  ///
  /// Each end holds only the last of its client, so that a client may attach any number of times.
  ///
  /// - Returns: All, for the other end.
  mutating func move(to next: RelayEnd, adding leaving: EarlierConnection) -> [EarlierConnection] {
    connections = connections.filter { !$0.isOver || !hasResponded($0) }
    for connection in connections { connection.move(to: next) }
    connections.append(leaving)
    for connection in connections.filter(\.isOpen).dropLast(EarlierConnection.maximumCount) {
      connection.expire()
    }
    return connections
  }
}
