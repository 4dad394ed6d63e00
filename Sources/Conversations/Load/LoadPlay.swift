// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Synchronization

/// One play of a load script over connections of its own: the adapter of `LoadExchange`.
final class LoadPlay: Sendable {
  private struct State {
    var exchange: LoadExchange
    /// The times, since the start of the load, of the last message received, and of the end of the
    /// last write.
    var lastReceived = Duration.zero
    var lastWritten: Duration
    /// The connections that the server has closed.
    var closed: Set<String> = []
    /// The connections on which a message could not be sent.
    var failed: Set<String> = []
  }

  private let state: Watched<State>
  private let connections: [String: ClientConnection]
  private let start: ContinuousClock.Instant
  private let patience: Duration
  private let times: SharedTimes

  /// - Parameters:
  ///   - exchange: What is sent and received.
  ///   - connections: The open connections, by name.
  ///   - start: The start of the load.
  ///   - patience: The time to wait for values, and at the end for responses.
  ///   - times: Gets the latencies and delays.
  init(
    _ exchange: LoadExchange, on connections: [String: ClientConnection],
    since start: ContinuousClock.Instant, patience: Duration, times: SharedTimes
  ) {
    state = Watched(State(exchange: exchange, lastWritten: ContinuousClock.now - start))
    self.connections = connections
    self.start = start
    self.patience = patience
    self.times = times
  }

  private var time: Duration { ContinuousClock.now - start }

  /// Sends a message when it is due, and when the values in it are known.
  ///
  /// - Returns: False if it was not sent; nothing more can be sent then.
  func send(_ message: LoadScript.Message, at intended: Duration) async -> Bool {
    try? await Task.sleep(until: start + intended, tolerance: .zero, clock: .continuous)
    guard !Task.isCancelled, let connection = connections[message.connection],
      let filled = await filled(message)
    else {
      countUnsent(1)
      return false
    }
    let isOpen = state.withLock { state in
      if state.closed.contains(message.connection) { return false }
      let isLate = filled.hasWaited ? state.lastReceived : .zero
      let ready = max(intended, state.lastWritten, isLate)
      let delay = time - ready
      times.withLock { $0.delays.add(delay) }
      state.exchange.sent(filled.message, on: message.connection, intended: intended)
      return true
    }
    guard isOpen else {
      countUnsent(1)
      return false
    }
    do {
      switch filled.message {
      case .message(let bytes): try await connection.send(bytes)
      case .raw(let bytes): try await connection.send(raw: bytes)
      }
    } catch {
      state.withLock { state in
        state.exchange.failed(filled.message, on: message.connection, intended: intended)
        state.failed.insert(message.connection)
      }
      return false
    }
    state.withLock { $0.lastWritten = time }
    return true
  }

  /// Counts messages that are not sent.
  func countUnsent(_ count: Int) { state.withLock { $0.exchange.count { $0.unsent += count } } }

  /// Waits for the values in a message; nil if they do not arrive.
  private func filled(
    _ message: LoadScript.Message
  ) async -> (message: LoadExchange.Filled, hasWaited: Bool)? {
    if let filled = state.withLock({ $0.exchange.filled(message) }) { return (filled, false) }
    return await result(within: patience) { [self] in
      await state.first { state in
        if let filled = state.exchange.filled(message) { return Waited.filled(filled) }
        return state.closed.count == connections.count ? .closed : nil
      }
    }.flatMap { if case .filled(let filled) = $0 { (filled, true) } else { nil } }
  }

  private enum Waited {
    case filled(LoadExchange.Filled)
    /// The server has closed all connections.
    case closed
  }

  /// Receives on all connections until they are closed.
  func receive() async {
    await withTaskGroup { group in
      for (name, connection) in connections {
        // A connection must not wait for another one.
        group.addTask { [self] in
          while let messages = try? await connection.receiveAll() {
            let time = time
            state.withLock(notifies: true) { state in
              state.lastReceived = time
              times.withLock { times in
                for message in messages {
                  state.exchange.received(
                    message, on: name, at: time, latencies: &times.latencies)
                }
              }
            }
          }
          state.withLock(notifies: true) { _ = $0.closed.insert(name) }
        }
      }
    }
  }

  /// Waits for the responses that are missing, and closes the connections.
  ///
  /// - Returns: The counts of this play, and the time at which the last message was written.
  func finish() async -> (tally: LoadTally, lastWritten: Duration) {
    _ = await result(within: patience) { [self] () -> Bool? in
      await state.first { state in
        state.exchange.hasAllResponses || state.closed.count == connections.count ? true : nil
      }
    }
    state.withLock { state in
      if !state.exchange.hasAllResponses || state.exchange.tally.unsent > 0 {
        let failed = state.closed.union(state.failed).count
        state.exchange.count { $0.failedConnections += failed }
      }
    }
    for connection in connections.values { await connection.close(patience: .zero) }
    return state.withLock { ($0.exchange.tally, $0.lastWritten) }
  }
}

/// The times of all clients of a load.
final class SharedTimes: Sendable {
  private let times = Mutex(LoadTimes())

  /// Reads or changes the times.
  func withLock<Value: Sendable>(_ body: (inout LoadTimes) -> Value) -> Value {
    times.withLock { body(&$0) }
  }
}
