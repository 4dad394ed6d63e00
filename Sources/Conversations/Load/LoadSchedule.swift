// SPDX-License-Identifier: Apache-2.0

/// The times at which the messages of a load are to be sent.
///
/// The load is open: the times depend on the rate alone, and never on responses. The messages of all
/// clients alternate, so that each client sends at the rate divided by the number of clients.
struct LoadSchedule: Sendable, Equatable {
  let clients: Int
  /// Messages of all clients in a second.
  let rate: Double
  /// The time after which no message begins; nil if each client plays the conversation once.
  let duration: Duration?

  /// Returns the time of a client's message since the start; nil if there is none.
  ///
  /// - Parameters:
  ///   - index: The number of the message among those of the client, from 0.
  ///   - client: The number of the client, from 0.
  func time(of index: Int, client: Int) -> Duration? {
    let time = time(after: index * clients + client)
    if let duration, time >= duration { return nil }
    return time
  }

  /// The time since the start at which the last message is sent.
  ///
  /// - Parameter messages: The number of messages in the conversation.
  func end(messages: Int) -> Duration {
    duration ?? time(after: messages * clients)
  }

  private func time(after messages: Int) -> Duration {
    .nanoseconds(Int64(min(Double(messages) / rate * 1e9, 9e18)))
  }
}
