// SPDX-License-Identifier: Apache-2.0

/// A function that waits on the wall clock, or on the clock of a test.
public typealias ConversationTimer = @Sendable (Duration) async throws -> Void

/// The result of a bounded wait for a message.
enum Arrival: Sendable {
  case message([UInt8])
  case closed
  case failed(any Error)
  /// The time has passed.
  case nothing

  /// Waits for the next message of a channel.
  static func next(
    on channel: any ConversationChannel, within time: Duration, timer: @escaping ConversationTimer
  ) async -> Arrival {
    let arrival = await result(within: time, timer: timer) {
      do {
        return try await channel.receive().map(Arrival.message) ?? .closed
      } catch is CancellationError {
        return nil
      } catch {
        return Arrival.failed(error)
      }
    }
    return arrival ?? .nothing
  }
}

/// Returns the result of `work`; nil if the time has passed before. `work` is cancelled then.
///
/// A result that comes at the same moment is still returned, so that no message is lost.
func result<Value: Sendable>(
  within time: Duration, timer: @escaping ConversationTimer = { try await Task.sleep(for: $0) },
  of work: @escaping @Sendable () async -> Value?
) async -> Value? {
  await withTaskGroup(of: Value?.self) { group in
    group.addTask { await work() }
    group.addTask {
      try? await timer(time)
      return nil
    }
    var found: Value?
    for await result in group {
      found = found ?? result
      group.cancelAll()
    }
    return found
  }
}
