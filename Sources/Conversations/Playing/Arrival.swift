// SPDX-License-Identifier: Apache-2.0

/// Waits on the wall clock, or on whatever a test takes for it.
public typealias ConversationTimer = @Sendable (Duration) async throws -> Void

/// What a bounded wait for a message led to.
enum Arrival: Sendable {
  case message([UInt8])
  case closed
  case failed(any Error)
  /// The time ran out.
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

/// What `work` leads to; it is cancelled when the time has run out, and then leads to nil.
///
/// Something that happens at the very moment still counts, so that no message is lost.
func result<Result: Sendable>(
  within time: Duration, timer: @escaping ConversationTimer,
  of work: @escaping @Sendable () async -> Result?
) async -> Result? {
  await withTaskGroup(of: Result?.self) { group in
    group.addTask { await work() }
    group.addTask {
      try? await timer(time)
      return nil
    }
    var found: Result?
    for await result in group {
      found = found ?? result
      group.cancelAll()
    }
    return found
  }
}
