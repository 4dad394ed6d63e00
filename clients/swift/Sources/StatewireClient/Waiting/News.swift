// SPDX-License-Identifier: Apache-2.0

/// Something that changes, for any number of listeners.
///
/// A listener that is slow misses what lay between, never that something has changed; so it keeps
/// nothing but one mark.
struct News {
  typealias Stream = AsyncThrowingStream<Void, any Error>

  private var listeners: [Stream.Continuation] = []

  /// Listens from now on.
  ///
  /// - Parameter isTold: Whether the listener is told once at once.
  mutating func listen(isTold: Bool = false) -> Stream {
    let (stream, continuation) = Stream.makeStream(bufferingPolicy: .bufferingNewest(1))
    if isTold { continuation.yield() }
    listeners.append(continuation)
    return stream
  }

  /// Something has changed.
  mutating func tell() {
    var isAnyGone = false
    for listener in listeners {
      if case .terminated = listener.yield() { isAnyGone = true }
    }
    guard isAnyGone else { return }
    listeners.removeAll { if case .terminated = $0.yield() { true } else { false } }
  }

  /// Nothing will change any more.
  mutating func end(throwing error: (any Error)? = nil) {
    for listener in listeners { listener.finish(throwing: error) }
    listeners = []
  }
}

/// Things that happen once, for any number of listeners, each of which keeps the last few.
struct Happenings<Happening: Sendable> {
  typealias Stream = AsyncThrowingStream<Happening, any Error>

  private var listeners: [Stream.Continuation] = []

  /// Listens from now on; of those that wait the oldest are dropped beyond 256.
  mutating func listen() -> Stream {
    let (stream, continuation) = Stream.makeStream(bufferingPolicy: .bufferingNewest(256))
    listeners.append(continuation)
    return stream
  }

  mutating func tell(_ happening: Happening) {
    listeners.removeAll { if case .terminated = $0.yield(happening) { true } else { false } }
  }

  mutating func end(throwing error: (any Error)? = nil) {
    for listener in listeners { listener.finish(throwing: error) }
    listeners = []
  }
}
