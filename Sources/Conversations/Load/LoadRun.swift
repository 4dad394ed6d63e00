// SPDX-License-Identifier: Apache-2.0

public import ClientTransports
import Synchronization

/// A run of `statewire load`: many clients play the client's side of a conversation.
///
/// Each client sends at its own times, whether it has responses or not. It waits only for a value of
/// the server that the next message contains; the latency of that message includes the wait.
public struct LoadRun: Sendable {
  private let script: LoadScript
  private let schedule: LoadSchedule
  private let given: GivenValues
  private let patience: Duration
  private let connect: @Sendable () async throws -> ClientConnection

  /// Creates a run.
  ///
  /// - Parameters:
  ///   - conversation: The conversation. Its expected messages only give names their values.
  ///   - clients: The number of clients at a time, at least 1.
  ///   - rate: The messages of all clients in a second, more than 0.
  ///   - duration: The time to send for; a client that is at the end of the conversation begins
  ///     again over new connections. Nil: each client plays it once.
  ///   - given: The values of the names that the conversation declares with `@given`.
  ///   - patience: The time to wait for values and, at the end, for responses.
  ///   - connect: Opens a connection.
  /// - Throws: `LoadFault` if the conversation sends nothing, or a given value is missing.
  public init(
    _ conversation: Conversation, clients: Int, rate: Double, duration: Duration?,
    given: GivenValues = GivenValues(), patience: Duration = .seconds(5),
    connect: @escaping @Sendable () async throws -> ClientConnection
  ) throws(LoadFault) {
    script = try LoadScript(conversation)
    if let name = given.missing(of: script.givenNames) {
      throw LoadFault(
        "the conversation needs a value of <\(name)>; pass --given \(name)=FILE")
    }
    schedule = LoadSchedule(clients: clients, rate: rate, duration: duration)
    self.given = given
    self.patience = patience
    self.connect = connect
  }

  /// Sends until the end of the duration or of the conversations.
  public func run() async -> LoadReport {
    // The first connections are open before the first message is due.
    var first: [Opened] = []
    for _ in 0..<schedule.clients { first.append(await open()) }
    let (opened, start) = (first, ContinuousClock.now)
    let total = Total()
    await withTaskGroup { group in
      // Beside the limit of time below, which cancels the clients.
      group.addTask {
        await withDiscardingTaskGroup { clients in
          for (client, opened) in opened.enumerated() {
            // Each client sends at its own times.
            clients.addTask {
              await play(client, opened, since: start, total)
            }
          }
        }
      }
      // A server that does not read could block a client without end.
      let end = schedule.end(messages: script.messages.count) + patience * 3
      group.addTask { try? await Task.sleep(until: start + end, clock: .continuous) }
      await group.next()
      group.cancelAll()
    }
    let times = total.times.withLock { $0 }
    return total.counts.withLock {
      LoadReport(
        schedule: schedule, tally: $0.tally, times: times, sendingTime: $0.sendingTime)
    }
  }

  /// The counts and times of all clients.
  private final class Total: Sendable {
    let counts = Mutex((tally: LoadTally(), sendingTime: Duration.zero))
    let times = SharedTimes()

    func add(_ tally: LoadTally, lastWritten: Duration) {
      counts.withLock {
        $0.tally.add(tally)
        $0.sendingTime = max($0.sendingTime, lastWritten)
      }
    }
  }

  /// The connections for one play, and the number of those that could not be opened.
  private struct Opened: Sendable {
    var connections: [String: ClientConnection] = [:]
    var failed = 0
  }

  private func open() async -> Opened {
    var opened = Opened()
    for name in script.connections {
      if let connection = try? await connect() {
        opened.connections[name] = connection
      } else {
        opened.failed += 1
      }
    }
    return opened
  }

  /// Plays the script, again and again if there is a duration.
  private func play(
    _ client: Int, _ opened: Opened, since start: ContinuousClock.Instant, _ total: Total
  ) async {
    await withDiscardingTaskGroup { group in
      var (index, opened) = (0, opened)
      while !Task.isCancelled, schedule.time(of: index, client: client) != nil {
        var exchange = LoadExchange(
          script, given: given.bindings(of: script.givenNames))
        exchange.count {
          $0.connections = opened.connections.count
          $0.failedConnections = opened.failed
        }
        let play = LoadPlay(
          exchange, on: opened.connections, since: start, patience: patience, times: total.times)
        // Responses arrive while the next messages are sent, and while the next play begins.
        group.addTask { await play.receive() }
        for message in script.messages {
          guard let time = schedule.time(of: index, client: client) else { break }
          index += 1
          if await !play.send(message, at: time) { break }
        }
        // With a duration, the next play sends at the remaining times.
        if schedule.duration == nil { play.countUnsent(script.messages.count - index) }
        group.addTask {
          let played = await play.finish()
          total.add(played.tally, lastWritten: played.lastWritten)
        }
        if schedule.duration == nil { return }
        guard schedule.time(of: index, client: client) != nil, !Task.isCancelled else { return }
        opened = await open()
      }
    }
  }
}
