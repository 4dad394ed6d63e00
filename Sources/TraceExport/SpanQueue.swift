// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The spans that have ended and are not exported yet, of which a number is kept.
///
/// Spans are added on any thread. While the collector does not respond, new spans are dropped and counted,
/// because the server must not wait for its collector.
public final class SpanQueue: Sendable {
  /// The greatest number of spans that wait.
  static let capacity = 8192

  private struct State {
    var spans: [SpanRecord] = []
    var dropped = 0
  }

  private let state = Mutex(State())

  /// Creates an empty queue.
  public init() {}

  func add(_ span: SpanRecord) {
    state.withLock { state in
      if state.spans.count < Self.capacity { state.spans.append(span) } else { state.dropped += 1 }
    }
  }

  /// Removes and returns the oldest spans.
  func take(atMost count: Int) -> [SpanRecord] {
    state.withLock { state in
      let taken = Array(state.spans.prefix(count))
      state.spans.removeFirst(taken.count)
      return taken
    }
  }

  /// Counts spans that a collector has not accepted.
  func drop(_ count: Int) { state.withLock { $0.dropped += count } }

  /// The number of spans that were dropped.
  var dropped: Int { state.withLock { $0.dropped } }
}
