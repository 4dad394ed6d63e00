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
  }

  private let state: Mutex<State>
  private let connections: [String: ClientConnection]
  private let start: ContinuousClock.Instant
  private let patience: Duration
  private let arrivals: AsyncStream<Void>
  private let arrived: AsyncStream<Void>.Continuation

  /// - Parameters:
  ///   - exchange: What is sent and received.
  ///   - connections: The open connections, by name.
  ///   - start: The start of the load.
  ///   - patience: The time to wait for values, and at the end for responses.
  init(
    _ exchange: LoadExchange, on connections: [String: ClientConnection],
    since start: ContinuousClock.Instant, patience: Duration
  ) {
    state = Mutex(State(exchange: exchange, lastWritten: ContinuousClock.now - start))
    self.connections = connections
    self.start = start
    self.patience = patience
    (arrivals, arrived) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
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
      countUnsent()
      return false
    }
    state.withLock { state in
      let isLate = filled.hasWaited ? state.lastReceived : .zero
      let ready = max(intended, state.lastWritten, isLate)
      let delay = time - ready
      state.exchange.count { $0.delays.add(delay) }
      state.exchange.sent(filled.message, on: message.connection, intended: intended)
    }
    do {
      switch filled.message {
      case .message(let bytes): try await connection.send(bytes)
      case .raw(let bytes): try await connection.send(raw: bytes)
      }
    } catch {
      return false
    }
    state.withLock { $0.lastWritten = time }
    return true
  }

  private func countUnsent() { state.withLock { $0.exchange.count { $0.unsent += 1 } } }

  /// Waits for the values in a message; nil if they do not arrive.
  private func filled(
    _ message: LoadScript.Message
  ) async -> (message: LoadExchange.Filled, hasWaited: Bool)? {
    if let filled = state.withLock({ $0.exchange.filled(message) }) { return (filled, false) }
    return await result(within: patience) { [self] in
      while !Task.isCancelled {
        let (filled, isClosed) = state.withLock {
          ($0.exchange.filled(message), $0.closed.count == connections.count)
        }
        if let filled { return (filled, true) }
        if isClosed { return nil }
        await arrival()
      }
      return nil
    }
  }

  /// Waits until something has arrived.
  private func arrival() async { for await _ in arrivals { return } }

  /// Receives on all connections until they are closed.
  func receive() async {
    await withTaskGroup { group in
      for (name, connection) in connections {
        group.addTask { [self] in
          while let messages = try? await connection.receiveAll() {
            let time = time
            state.withLock { state in
              state.lastReceived = time
              for message in messages {
                state.exchange.received(message, on: name, at: time)
              }
            }
            arrived.yield()
          }
          state.withLock { _ = $0.closed.insert(name) }
          arrived.yield()
        }
      }
    }
  }

  /// Waits for the responses that are missing, and closes the connections.
  ///
  /// - Returns: The counts of this play, and the time at which the last message was written.
  func finish() async -> (tally: LoadTally, lastWritten: Duration) {
    _ = await result(within: patience) { [self] () -> Bool? in
      while !Task.isCancelled {
        let isDone = state.withLock {
          $0.exchange.isAnswered || $0.closed.count == connections.count
        }
        if isDone { return true }
        await arrival()
      }
      return nil
    }
    state.withLock { state in
      if !state.exchange.isAnswered {
        let failed = state.closed.count
        state.exchange.count { $0.failedConnections += failed }
      }
    }
    for connection in connections.values { await connection.close(patience: .zero) }
    return state.withLock { ($0.exchange.tally, $0.lastWritten) }
  }
}
