// SPDX-License-Identifier: Apache-2.0

/// A notification of changes for any number of subscribers.
///
/// Each subscriber has a buffer of one element: a slow one misses changes, but not the last one.
struct Signal {
  typealias Stream = AsyncThrowingStream<Void, any Error>

  private var subscribers: [Stream.Continuation] = []

  /// Adds a subscriber.
  ///
  /// - Parameter isNotified: True to notify the subscriber immediately.
  mutating func subscribe(isNotified: Bool = false) -> Stream {
    let (stream, continuation) = Stream.makeStream(bufferingPolicy: .bufferingNewest(1))
    if isNotified { continuation.yield() }
    subscribers.append(continuation)
    return stream
  }

  /// Notifies all subscribers.
  mutating func notify() {
    var isAnyGone = false
    for subscriber in subscribers {
      if case .terminated = subscriber.yield() { isAnyGone = true }
    }
    guard isAnyGone else { return }
    subscribers.removeAll { if case .terminated = $0.yield() { true } else { false } }
  }

  /// Ends all streams.
  mutating func end(throwing error: (any Error)? = nil) {
    for subscriber in subscribers { subscriber.finish(throwing: error) }
    subscribers = []
  }
}

/// Sends events to any number of subscribers, each of which buffers the last 256.
struct Broadcast<Event: Sendable> {
  typealias Stream = AsyncThrowingStream<Event, any Error>

  private var subscribers: [Stream.Continuation] = []

  /// Adds a subscriber. Its buffer holds 256 events; older ones are dropped.
  mutating func subscribe() -> Stream {
    let (stream, continuation) = Stream.makeStream(bufferingPolicy: .bufferingNewest(256))
    subscribers.append(continuation)
    return stream
  }

  mutating func send(_ event: Event) {
    subscribers.removeAll { if case .terminated = $0.yield(event) { true } else { false } }
  }

  mutating func end(throwing error: (any Error)? = nil) {
    for subscriber in subscribers { subscriber.finish(throwing: error) }
    subscribers = []
  }
}
