// SPDX-License-Identifier: Apache-2.0

/// A signal from one side of a test to the other, which can be fired any number of times.
struct Signal: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream<Void>.makeStream() }

  func fire() { continuation.yield() }

  /// Waits for one `fire`, which may have been called already.
  func wait() async {
    for await _ in stream { return }
  }
}
