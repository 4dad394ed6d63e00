// SPDX-License-Identifier: Apache-2.0

/// A value that is set once and for which one task waits.
struct Promise<Value: Sendable>: Sendable {
  private let stream: AsyncStream<Result<Value, any Error>>
  private let continuation: AsyncStream<Result<Value, any Error>>.Continuation

  init() {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
  }

  /// Sets the value. Later calls have no effect.
  func resolve(_ result: Result<Value, any Error>) {
    continuation.yield(result)
    continuation.finish()
  }

  /// The value. Must be read once.
  ///
  /// - Throws: `CancellationError` when cancelled.
  var value: Value {
    get async throws {
      for await result in stream { return try result.get() }
      throw CancellationError()
    }
  }
}
